import type { RunFinish, RunRecord } from '../store/runs.ts';
import { ClaimFence, type ClaimFenceParts } from './claim-fence.ts';
import { addSpent } from './issue-counters.ts';
import { heldFrom, lookFrom, putIdleHold, putLook } from './ledger-rows.ts';
import { type HeldEntry, type Look, slotOfHold } from './scheduling-state.ts';
import { usageOf } from './usage-of-run.ts';

/** What a daemon that is gone left behind of an issue, now ours. */
export interface Inheritance {
  readonly runs: readonly RunRecord[];
  readonly look: Look | null;
  readonly hold: HeldEntry | null;
}

/** How claims come to us from whoever had them before. */
export class Takeover {
  readonly #parts: ClaimFenceParts;
  readonly #fence: ClaimFence;

  constructor(parts: ClaimFenceParts) {
    this.#parts = parts;
    this.#fence = new ClaimFence(parts);
  }

  /**
   * Takes over an issue that nobody alive has: raises the generation first, then gives what is behind it. Null when
   * somebody has it after all, or when there is nothing behind it any more.
   */
  async inherit(issueId: string, leaseMs: number): Promise<Inheritance | null> {
    const { store, project, generations } = this.#parts;
    const key = this.#fence.key(issueId);
    const found = await store.transaction(async (tables) => {
      // Until its runs are ended they take the slot that they took.
      const slotState = (await tables.claims.read(key))?.slotState ?? null;
      const claim = await this.#fence.take(tables, issueId, leaseMs, slotState);
      if (claim === null) return null;
      const runs = (await tables.runs.unfinished(project)).filter((run) => run.issueId === issueId);
      const retry = await tables.retries.read(key);
      const hold = (await tables.held.list(project)).find((each) => each.issueId === issueId);
      if (runs.length === 0) await tables.claims.setSlot(key, claim, hold === undefined ? null : slotOfHold(hold));
      if (runs.length > 0 || retry !== null || hold !== undefined) return { claim, runs, retry, hold };
      await tables.claims.release(key, claim);
      return null;
    });
    if (found === null) return null;
    const { claim, runs, retry, hold } = found;
    generations.set(issueId, claim.generation);
    return {
      runs,
      look: retry === null ? null : lookFrom(retry),
      hold: hold === undefined ? null : heldFrom(hold),
    };
  }

  /**
   * Ends the runs of a daemon that is gone as interrupted, and holds the issue, or promises a look where nothing else is
   * promised. How long they worked nobody knows; what they used is counted as far as it was written down.
   */
  endRuns({ runs, look: promised, hold }: Inheritance, look: Look, end: RunFinish): Promise<boolean> {
    return this.#fence.write(look.issue.id, async (tables, key, holder) => {
      for (const run of runs) {
        if (!(await tables.runs.finish(run.runId, run.generation, end))) continue;
        await tables.usage.add(usageOf(run, end.endedAt));
        await addSpent(tables, key, { tokens: run.totalTokens, wallMs: 0, microUsd: run.costMicroUsd });
      }
      // An agent that survives is held in the same moment in which its run ends: there is none in which it is forgotten.
      await tables.claims.setSlot(key, holder, null);
      if (hold !== null) await putIdleHold(tables, key, holder, hold);
      else if (promised === null) await putLook(tables, key, look);
    });
  }

  /** After a restore: our claim on an issue that we have, as the store has it now. */
  async reclaim(issueId: string, slotState: string | null, leaseMs: number): Promise<boolean> {
    const { store, generations } = this.#parts;
    const claim = await store.transaction((tables) => this.#fence.take(tables, issueId, leaseMs, slotState));
    if (claim === null) return false;
    generations.set(issueId, claim.generation);
    return true;
  }
}
