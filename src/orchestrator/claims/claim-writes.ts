import { utcDay } from '../../core/cadence/utc-day.ts';
import type { IssueKey } from '../../store/issue-key.ts';
import type { StoreTables } from '../../store/store.ts';
import type { ClaimHolder } from '../../store/tables/claims.ts';
import type { RunFinish, RunRecord } from '../../store/tables/runs.ts';
import type { UsageAmount } from '../../store/tables/usage.ts';
import { type Hold, type Retry, slotOfHold } from './claim.ts';
import { holdFrom, putIdleHold, putRetry, retryFrom } from './claim-rows.ts';
import { addRuns, addSpent, clearCounts, noStreaks, type Streaks, writeStreaks } from './issue-counters.ts';

/*
 * What the operations on claims write, each inside one transaction that has checked owner and generation (claims.ts).
 */

export type NextStep =
  | { readonly action: 'retry'; readonly retry: Retry }
  | { readonly action: 'hold'; readonly hold: Hold }
  | { readonly action: 'release' };

export interface RunEndRows {
  readonly runId: string;
  /** The generation under which the run was started. */
  readonly runGeneration: number;
  readonly end: RunFinish;
  readonly wallMs: number;
  readonly step: NextStep;
  readonly streaks: Streaks;
  /** Writes what else is known of the run, before its end. */
  readonly writeNotes: (tables: StoreTables) => Promise<void>;
}

/** The end of a run, what it used, what it counts for and what follows. */
export async function writeEnd(
  tables: StoreTables,
  key: IssueKey,
  holder: ClaimHolder,
  run: RunEndRows,
): Promise<void> {
  const { runId, end, step } = run;
  await run.writeNotes(tables);
  const record = (await tables.runs.finish(runId, run.runGeneration, end)) ? await tables.runs.read(runId) : null;
  if (record !== null) {
    await tables.usage.add(usageOf(record, end.endedAt));
    const { totalTokens: tokens, costMicroUsd: microUsd } = record;
    await addSpent(tables, key, { tokens, wallMs: run.wallMs, microUsd });
    // The account waited, not the issue: it keeps all its runs.
    const waitsForAccount = step.action === 'retry' && step.retry.kind === 'quota';
    if (end.errorCode === 'agent_quota_exhausted' || waitsForAccount) await addRuns(tables, key, -1);
  }
  await writeStreaks(tables, key, step.action === 'release' ? noStreaks : run.streaks);
  if (step.action === 'release') {
    // No run continues it, so no agent wants to know any more.
    await tables.questions.closeOfIssue(key, end.endedAt);
    await tables.claims.release(key, holder);
  } else if (step.action === 'hold') await putIdleHold(tables, key, holder, step.hold);
  else {
    await putRetry(tables, key, step.retry);
    await tables.claims.setSlot(key, holder, null);
  }
}

/** Releases the claim; a new allowance is for an issue that a person releases. */
export async function writeRelease(
  tables: StoreTables,
  key: IssueKey,
  holder: ClaimHolder,
  { byPerson, at }: { readonly byPerson: boolean; readonly at: number },
): Promise<void> {
  await tables.retries.remove(key);
  await tables.held.remove(key);
  if (byPerson) await clearCounts(tables, key);
  else await writeStreaks(tables, key, noStreaks);
  await tables.questions.closeOfIssue(key, at);
  await tables.claims.release(key, holder);
}

/** Takes a claim that is free, expired, or our own from before a restart, with this slot. */
export type TakeClaim = (tables: StoreTables, slotState: string | null) => Promise<ClaimHolder | null>;

/** Holds an issue that does not run; gives the generation under which it is held, null when another daemon has it. */
export async function writeHold(
  tables: StoreTables,
  key: IssueKey,
  hold: Hold,
  { ours, take }: { readonly ours: ClaimHolder | null; readonly take: TakeClaim },
): Promise<number | null> {
  // A run without an end may have an agent that is alive: it is inherited and ended first.
  if ((await tables.runs.unfinished(key.project)).some((run) => run.issueId === key.issueId)) return null;
  const holder = ours ?? (await take(tables, null));
  if (holder === null || !(await tables.claims.verify(key, holder))) return null;
  await putIdleHold(tables, key, holder, hold);
  return holder.generation;
}

/** What a daemon that is gone left behind of an issue, now ours. */
export interface Inheritance {
  readonly runs: readonly RunRecord[];
  readonly retry: Retry | null;
  readonly hold: Hold | null;
}

export interface Inherited {
  readonly hold: Hold | null;
  readonly retry: Retry;
  readonly delayMs: number;
  readonly end: RunFinish;
}

/** Takes the claim of a daemon that is gone and reads what is behind it; null when there is nothing to inherit. */
export async function takeLeft(
  tables: StoreTables,
  key: IssueKey,
  take: TakeClaim,
): Promise<(Inheritance & { readonly generation: number }) | null> {
  const { project, issueId } = key;
  // Until its runs are ended they take the slot that they took.
  const claim = await take(tables, (await tables.claims.read(key))?.slotState ?? null);
  if (claim === null) return null;
  const runs = (await tables.runs.unfinished(project)).filter((run) => run.issueId === issueId);
  const retry = await tables.retries.read(key);
  const hold = (await tables.held.list(project)).find((row) => row.issueId === issueId);
  if (runs.length === 0) await tables.claims.setSlot(key, claim, hold === undefined ? null : slotOfHold(hold));
  if (runs.length === 0 && retry === null && hold === undefined) {
    await tables.claims.release(key, claim);
    return null;
  }
  return {
    generation: claim.generation,
    runs,
    retry: retry === null ? null : retryFrom(retry),
    hold: hold === undefined ? null : holdFrom(hold),
  };
}

/**
 * Ends the runs of a daemon that is gone as interrupted, and holds the issue, or writes a retry where there is none. How
 * long they worked nobody knows; what they used is counted as far as it was written.
 */
export async function writeInherited(
  tables: StoreTables,
  key: IssueKey,
  holder: ClaimHolder,
  { runs, retry: promised }: Inheritance,
  { hold, retry, end }: Inherited,
): Promise<void> {
  for (const run of runs) {
    if (!(await tables.runs.finish(run.runId, run.generation, end))) continue;
    await tables.usage.add(usageOf(run, end.endedAt));
    await addSpent(tables, key, { tokens: run.totalTokens, wallMs: 0, microUsd: run.costMicroUsd });
  }
  // An agent that survives is held in the same moment in which its run ends: there is none in which it is forgotten.
  await tables.claims.setSlot(key, holder, null);
  if (hold !== null) await putIdleHold(tables, key, holder, hold);
  else if (promised === null) await putRetry(tables, key, retry);
}

/** What a run used counts for the day on which it ended. */
function usageOf(run: RunRecord, endedAt: number): UsageAmount {
  const { project, issueId, role, inputTokens, cachedInputTokens, outputTokens, reasoningTokens, totalTokens } = run;
  return {
    project,
    issueId,
    role,
    day: utcDay(endedAt),
    inputTokens,
    cachedInputTokens,
    outputTokens,
    reasoningTokens,
    totalTokens,
    costMicroUsd: run.costMicroUsd,
    runs: 1,
  };
}
