import { whyTooManyClaimed } from '../core/backpressure.ts';
import type { SkipReason } from '../core/eligibility.ts';
import { isDayLimit, type LimitFinding, limitHold, limitsBeforeStart } from '../core/limits.ts';
import type { Settings } from '../core/settings.ts';
import { whyNoSlot } from '../core/slots.ts';
import type { RunFinish } from '../store/runs.ts';
import type { StoreTables } from '../store/store.ts';
import { ClaimFence, type ClaimFenceParts } from './claim-fence.ts';
import { addSpent, clearCounts, noStreaks, readCounts, writeStreaks } from './issue-counters.ts';
import { putHold, putIdleHold, putLook } from './ledger-rows.ts';
import { bothNotes, type RunAnswer, type RunWish } from './run-wish.ts';
import type { HeldEntry, IssueCounts, IssueName, Look } from './scheduling-state.ts';
import { usageOf } from './usage-of-run.ts';

export interface LedgerParts extends ClaimFenceParts {
  readonly isShared: boolean;
}

/** What follows a run that has ended. */
export type NextStep =
  | { readonly action: 'retry'; readonly look: Look }
  | { readonly action: 'hold'; readonly hold: HeldEntry }
  | { readonly action: 'release' };

export interface RunSettlement {
  readonly issue: IssueName;
  readonly runId: string;
  readonly runGeneration: number;
  readonly end: RunFinish;
  readonly wallMs: number;
  readonly failures: number;
  readonly staleRuns: number;
  readonly quotaWaits: number;
  readonly next: NextStep;
  /** Writes what else was noted of the run, before its end. */
  readonly writeNotes: (tables: StoreTables) => Promise<void>;
}

/**
 * Every durable change of scheduling state, each one transaction, written before its effect (law 3) and fenced by owner
 * and generation (law 4): false, or a refusal, means that the claim is not ours any more, and then nothing was written.
 */
export class Ledger {
  readonly #parts: LedgerParts;
  readonly #fence: ClaimFence;

  constructor(parts: LedgerParts) {
    this.#parts = parts;
    this.#fence = new ClaimFence(parts);
  }

  /**
   * Claims the issue, or goes on with our claim on it, and writes the run down, if there is a slot over all daemons of
   * the store and no limit of the issue is reached. An issue at its limit is held instead.
   */
  async beginRun(wish: RunWish): Promise<RunAnswer> {
    const { store, generations } = this.#parts;
    const { issueId } = wish.record;
    const { answer, generation } = await store.transaction(async (tables) => {
      const full = (await this.#whyNoSlot(tables, wish)) ?? (await wish.whyNoAccount(tables));
      if (full !== null) return { answer: refused(full), generation: null };
      const claim = await this.#claimForRun(tables, wish);
      if (claim === null) return { answer: refused(hasAnother), generation: null };
      return { answer: await this.#writeStart(tables, wish, claim), generation: claim };
    });
    if (generation !== null) generations.set(issueId, generation);
    return answer;
  }

  /** The end of a run, what it used, what it counts for and what follows: all or nothing. */
  async settleRun(settlement: RunSettlement): Promise<boolean> {
    const { issue, runId, runGeneration, end, next } = settlement;
    const generation = this.#parts.generations.get(issue.id);
    const isOurs = await this.#fence.write(issue.id, async (tables, key, holder) => {
      await settlement.writeNotes(tables);
      const run = (await tables.runs.finish(runId, runGeneration, end)) ? await tables.runs.read(runId) : null;
      if (run !== null) {
        await tables.usage.add(usageOf(run, end.endedAt));
        await addSpent(tables, key, { tokens: run.totalTokens, wallMs: settlement.wallMs, microUsd: run.costMicroUsd });
        // The account waited, not the issue: it has all its runs.
        if (end.errorCode === 'agent_quota_exhausted' || waitsForAccount(next))
          await tables.counters.add(key, 'runs', -1);
      }
      await writeStreaks(tables, key, next.action === 'release' ? noStreaks : settlement);
      if (next.action === 'release') {
        // Nobody goes on with it, so nobody wants to know any more.
        await tables.questions.closeOfIssue(key, end.endedAt);
        await tables.claims.release(key, holder);
      }
      if (next.action === 'hold') await putIdleHold(tables, key, holder, next.hold);
      if (next.action !== 'retry') return;
      await putLook(tables, key, next.look);
      await tables.claims.setSlot(key, holder, null);
    });
    if (next.action === 'release' || !isOurs) this.#forget(issue.id, generation);
    return isOurs;
  }

  /** Holds an issue, ours or nobody's; a promise to look at it ends. False when another daemon has it. */
  async hold(entry: HeldEntry, leaseMs: number): Promise<boolean> {
    const { store, generations } = this.#parts;
    const { id } = entry.issue;
    const key = this.#fence.key(id);
    const generation = await store.transaction(async (tables) => {
      // Something of a run without an end may be alive: it is taken over and ended first. Until then its slot is taken.
      if ((await tables.runs.unfinished(key.project)).some((run) => run.issueId === id)) return null;
      const taken = generations.has(id) ? this.#fence.holder(id) : await this.#fence.take(tables, id, leaseMs, null);
      if (taken === null || !(await tables.claims.verify(key, taken))) return null;
      await putIdleHold(tables, key, taken, entry);
      return taken.generation;
    });
    if (generation === null) return false;
    generations.set(id, generation);
    return true;
  }

  /** Notes that an issue is held when its run has ended: a crash before that end must not forget it. */
  holdAfterRun(entry: HeldEntry): Promise<boolean> {
    return this.#fence.write(entry.issue.id, (tables, key) => putHold(tables, key, entry));
  }

  /** Takes back that an issue is held when its run has ended. */
  forgetHold(issueId: string): Promise<boolean> {
    return this.#fence.write(issueId, async ({ held }, key) => void (await held.remove(key)));
  }

  /** Gives an issue back: its claim, its retry and its hold end. `byPerson` also gives it a new allowance. */
  async release(issueId: string, options: { readonly byPerson: boolean }): Promise<boolean> {
    const generation = this.#parts.generations.get(issueId);
    const isOurs = await this.#fence.write(issueId, async (tables, key, holder) => {
      await tables.retries.remove(key);
      await tables.held.remove(key);
      if (options.byPerson) await clearCounts(tables, key);
      else await writeStreaks(tables, key, noStreaks);
      await tables.questions.closeOfIssue(key, this.#parts.clock.now());
      await tables.claims.release(key, holder);
    });
    this.#forget(issueId, generation);
    return isOurs;
  }

  /**
   * Goes on with a held issue: the hold ends, and in the same moment a look is promised. `byPerson` also gives it a new
   * allowance.
   */
  lookInsteadOfHold(look: Look, options: { readonly byPerson: boolean }): Promise<boolean> {
    return this.#fence.write(look.issue.id, async (tables, key, holder) => {
      await tables.held.remove(key);
      if (options.byPerson) await clearCounts(tables, key);
      await putLook(tables, key, look);
      await tables.claims.setSlot(key, holder, null);
    });
  }

  /** Which slot a running issue takes now that its state has changed. */
  moveSlot(issueId: string, slotState: string): Promise<boolean> {
    return this.#parts.store.claims.setSlot(this.#fence.key(issueId), this.#fence.holder(issueId), slotState);
  }

  /** Extends our claims. Gives the issues whose claim is not ours any more. */
  async renew(leaseMs: number): Promise<readonly string[]> {
    const { store, clock, project, owner, generations } = this.#parts;
    const before = [...generations];
    const kept = await store.claims.renewAll(project, owner, { at: clock.now(), leaseMs });
    const generationOf = new Map(kept.map(({ issueId, generation }) => [issueId, generation]));
    return before.flatMap(([issueId, generation]) =>
      // One that was given back or taken anew meanwhile is not lost.
      generations.get(issueId) === generation && generationOf.get(issueId) !== generation ? [issueId] : [],
    );
  }

  /** Gives every claim back; retries and holds stay, for whoever comes next. */
  async releaseClaims(): Promise<void> {
    const { store, generations } = this.#parts;
    if (generations.size === 0) return;
    await store.transaction(async ({ claims }) => {
      for (const id of generations.keys()) await claims.release(this.#fence.key(id), this.#fence.holder(id));
    });
    generations.clear();
  }

  /** What is counted of an issue. */
  counts(issueId: string): Promise<IssueCounts> {
    return readCounts(this.#parts.store, this.#fence.key(issueId));
  }

  /** The claim of this generation is over; one that was taken since is another. */
  #forget(issueId: string, generation: number | undefined): void {
    const { generations } = this.#parts;
    if (generations.get(issueId) === generation) generations.delete(issueId);
  }

  /** On a shared store the slots of all daemons count; under the lock of the project only one decides at a time. */
  async #whyNoSlot(tables: StoreTables, { record, slotState, settings }: RunWish): Promise<SkipReason | null> {
    const { isShared, project, clock } = this.#parts;
    if (!isShared) return null;
    await tables.projects.lock(project);
    const claims = await tables.claims.held(project, clock.now());
    const others = claims.filter(({ issueId }) => issueId !== record.issueId);
    if (others.length === claims.length && !this.#parts.generations.has(record.issueId)) {
      const full = whyTooManyClaimed(others.length, 0, settings.agent.maxClaimed);
      if (full !== null) return full;
    }
    return whyNoSlot(
      slotState,
      others.flatMap((claim) => claim.slotState ?? []),
      settings.agent,
    );
  }

  async #claimForRun(tables: StoreTables, { record, slotState, settings }: RunWish): Promise<number | null> {
    const { issueId } = record;
    const key = this.#fence.key(issueId);
    // Something of a run without an end may be alive, ours included: it is taken over and ended first.
    if ((await tables.runs.unfinished(key.project)).some((run) => run.issueId === issueId)) return null;
    if ((await tables.held.list(key.project)).some((each) => each.issueId === issueId)) return null;
    if (this.#parts.generations.has(issueId)) {
      const ours = this.#fence.holder(issueId);
      if (!(await tables.claims.setSlot(key, ours, slotState))) return null;
      // Its lease may be over by now, and nobody has taken it yet: for this run it counts from here.
      const lease = { at: this.#parts.clock.now(), leaseMs: settings.store.leaseMs };
      if (this.#parts.isShared) await tables.claims.renewAll(key.project, ours.owner, lease);
      return ours.generation;
    }
    // What a daemon left behind is taken over with its due time and its reason, never started as if it were new.
    if ((await tables.retries.read(key)) !== null) return null;
    const claim = await this.#fence.take(tables, issueId, settings.store.leaseMs, slotState);
    return claim?.generation ?? null;
  }

  async #writeStart(
    tables: StoreTables,
    { record, settings, takeAccount, note: newNote }: RunWish,
    generation: number,
  ): Promise<RunAnswer> {
    const { clock, host, owner, project } = this.#parts;
    const key = this.#fence.key(record.issueId);
    const before = await readCounts(tables, key);
    const reached = issueLimitReached(before, settings);
    if (reached !== undefined) {
      const issue = { id: record.issueId, identifier: record.identifier };
      const hold = { ...limitHold(reached, record.identifier), issue, since: clock.now(), runId: null };
      await putIdleHold(tables, key, { owner, generation }, hold);
      return refused({ code: 'limit_reached', text: hold.reason }, hold);
    }
    const earlier = await tables.runs.list(project, { issueId: record.issueId, limit: mostEarlier });
    const last = earlier[0] ?? null;
    await tables.retries.remove(key);
    // What an earlier run asked and nobody answered is asked again, if it still matters.
    await tables.questions.closeOfIssue(key, clock.now());
    const answers = await tables.questions.undelivered(key);
    const asked = await tables.questions.list(project, { issueId: record.issueId, limit: mostAnswersBefore });
    const answersBefore = asked.filter(({ given, deliveredTo }) => given !== null && deliveredTo !== null).toReversed();
    const account = await takeAccount(tables, last);
    const note = bothNotes(last?.note ?? null, newNote);
    await tables.runs.start({ ...record, project, host, generation, account, note });
    await tables.counters.add(key, 'runs', 1);
    return { isBegun: true, generation, before, last, earlier, account, note, answers, answersBefore };
  }
}

/** So far back is looked for a conversation to go on with. */
export const mostEarlier = 20;
/** More than anybody answers about one ticket. */
const mostAnswersBefore = 20;

function waitsForAccount(next: NextStep): boolean {
  return next.action === 'retry' && next.look.kind === 'quota';
}

const hasAnother: SkipReason = { code: 'claimed_elsewhere', text: 'another daemon has it' };

function refused(refusal: SkipReason, held: HeldEntry | null = null): RunAnswer {
  return { isBegun: false, refusal, held };
}

/** The limits of the day hold for everybody and are looked at before; here it is about this issue. */
function issueLimitReached({ spent }: IssueCounts, { limits }: Settings): LimitFinding | undefined {
  const findings = limitsBeforeStart({ issue: spent, day: { tokens: 0, microUsd: 0 } }, limits);
  return findings.find((finding) => finding.level === 'reached' && !isDayLimit(finding));
}
