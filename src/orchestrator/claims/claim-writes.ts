import { utcDay } from '../../core/cadence/utc-day.ts';
import type { Slot } from '../../core/dispatch/slots.ts';
import { isJudge, roleOf } from '../../core/run/role.ts';
import type { IssueKey } from '../../store/issue-key.ts';
import type { StoreTables } from '../../store/store.ts';
import type { ClaimHolder } from '../../store/tables/claims.ts';
import type { RunFinish, RunRecord } from '../../store/tables/runs.ts';
import type { UsageAmount } from '../../store/tables/usage.ts';
import { type Hold, type Retry, slotOfHold, storedSlot } from './claim.ts';
import { holdFrom, putIdleHold, putRetry, retryFrom } from './claim-rows.ts';
import {
  addRuns,
  addSpent,
  clearCounts,
  noStreaks,
  type Streaks,
  writeCommentsUntil,
  writeStreaks,
} from './issue-counters.ts';

/*
 * The writes of the claim operations. Each runs inside a transaction that has checked owner and generation (claims.ts).
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
  /** What its agent received does not wait for a next run. */
  readonly endedWell: boolean;
  /** As `RunState.commentsUntil`. */
  readonly commentsUntil: number | null;
  /** Writes the pending notes of the run, before its end. */
  readonly writeNotes: (tables: StoreTables) => Promise<void>;
}

/** Writes the end of a run, its usage, its counters and the next step. */
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
    if (run.endedWell) {
      await tables.messages.settle(key, runId, end.endedAt);
      if (run.commentsUntil !== null) await writeCommentsUntil(tables, key, run.commentsUntil);
    }
    const { totalTokens: tokens, costMicroUsd: microUsd } = record;
    await addSpent(tables, key, { tokens, wallMs: run.wallMs, microUsd });
    // The run was refused for its account, not for the issue: it does not count against the issue's runs.
    const waitsForAccount = step.action === 'retry' && step.retry.kind === 'quota';
    const isCounted = !isJudge(roleOf(record.role));
    if (isCounted && (end.errorCode === 'agent_quota_exhausted' || waitsForAccount)) await addRuns(tables, key, -1);
  }
  await writeStreaks(tables, key, step.action === 'release' ? noStreaks : run.streaks);
  if (step.action === 'release') {
    // No run follows, so no agent waits for an answer.
    await tables.questions.closeOfIssue(key, end.endedAt);
    await tables.claims.release(key, holder);
  } else if (step.action === 'hold') await putIdleHold(tables, key, holder, step.hold);
  else {
    await putRetry(tables, key, step.retry);
    await tables.claims.setSlot(key, holder, null);
  }
}

/** Releases the claim. Only a release by a person gives the issue a new allowance. */
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
export type TakeClaim = (tables: StoreTables, slot: Slot | null) => Promise<ClaimHolder | null>;

/** Holds an issue that does not run. Returns the generation of the claim, or null when another daemon has the issue. */
export async function writeHold(
  tables: StoreTables,
  key: IssueKey,
  hold: Hold,
  { ours, take }: { readonly ours: ClaimHolder | null; readonly take: TakeClaim },
): Promise<number | null> {
  // What a dead daemon left may have a live agent, or be held for one: it must be inherited first.
  if (ours === null && (await isLeft(tables, key))) return null;
  const holder = ours ?? (await take(tables, null));
  if (holder === null || !(await tables.claims.verify(key, holder))) return null;
  await putIdleHold(tables, key, holder, hold);
  return holder.generation;
}

async function isLeft({ runs, held, retries }: StoreTables, key: IssueKey): Promise<boolean> {
  const isThis = ({ issueId }: IssueKey): boolean => issueId === key.issueId;
  if ((await runs.unfinished(key.project)).some(isThis) || (await held.list(key.project)).some(isThis)) return true;
  return (await retries.read(key)) !== null;
}

/** What a dead daemon left of an issue that is now ours. */
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

/** Takes the claim of a dead daemon and reads its runs, retry and hold; null when there is nothing to inherit. */
export async function takeLeft(
  tables: StoreTables,
  key: IssueKey,
  take: TakeClaim,
): Promise<(Inheritance & { readonly generation: number }) | null> {
  const { project, issueId } = key;
  // Its runs keep their slot until they are ended.
  const before = await tables.claims.read(key);
  const claim = await take(tables, before === null ? null : storedSlot(before));
  if (claim === null) return null;
  const runs = (await tables.runs.unfinished(project)).filter((run) => run.issueId === issueId);
  const retry = await tables.retries.read(key);
  const hold = (await tables.held.list(project)).find((row) => row.issueId === issueId);
  const slot = hold === undefined ? null : slotOfHold(hold);
  if (runs.length === 0) await tables.claims.setSlot(key, claim, slot?.state ?? null, slot?.role);
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
 * Ends the runs of a dead daemon as interrupted, and holds the issue, or writes a retry if there is none. Their working
 * time is unknown; their usage counts as far as it was written.
 */
export async function writeInherited(
  tables: StoreTables,
  key: IssueKey,
  holder: ClaimHolder,
  { runs, retry: promised }: Inheritance,
  { hold, retry, end }: Inherited,
): Promise<void> {
  for (const { runId, generation } of runs) {
    if (!(await tables.runs.finish(runId, generation, end))) continue;
    // Read once it has ended: its daemon may have noted more since it was found.
    const run = await tables.runs.read(runId);
    if (run === null) continue;
    await tables.usage.add(usageOf(run, end.endedAt));
    await addSpent(tables, key, { tokens: run.totalTokens, wallMs: 0, microUsd: run.costMicroUsd });
  }
  // The hold is written together with the end of the run, so a surviving agent is never forgotten.
  await tables.claims.setSlot(key, holder, null);
  if (hold !== null) await putIdleHold(tables, key, holder, hold);
  else if (promised === null) await putRetry(tables, key, retry);
}

/** Usage counts for the day on which the run ended. */
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
