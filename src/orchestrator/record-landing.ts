import { sleep } from '../clock/clock.ts';
import type { LandedIssue } from '../store/landed.ts';
import type { OrchestratorContext } from './context.ts';
import type { CompletedEntry } from './scheduling-state.ts';

/** How many finished issues are remembered for people. */
const mostCompleted = 1_000;
/** What landed longer ago is not read at the start. */
const newsMs = 24 * 3_600_000;
/** How long a landing that could not be written waits before it is tried again, at first and at most. */
const firstRetryMs = 1_000;
const longestRetryMs = 30_000;

/**
 * Writes a landing down and then remembers it: who saw it first, of several daemons on one store, has said when it was. A
 * store that fails takes nothing from people: the landing is remembered as it was seen here, and written as soon as that
 * is possible; only a daemon that stops gives up. `openAt` is when the issue was last known not to be over; null: that is
 * when its last run started. Never rejects.
 */
export async function recordLanding(
  context: OrchestratorContext,
  entry: CompletedEntry,
  openAt: number | null,
): Promise<void> {
  const { clock, logger, stopping } = context;
  let isRemembered = false;
  for (let waitMs = firstRetryMs; ; waitMs = Math.min(waitMs * 2, longestRetryMs)) {
    const isLast = stopping.aborted;
    try {
      const kept = await write(context, entry, openAt);
      // People may have been told of the time that was remembered: it stays.
      if (!isRemembered) remember(context, kept);
      return;
    } catch (error) {
      const { id: issue_id, identifier: issue_identifier } = entry.issue;
      logger.warn('merge_write_failed', { issue_id, issue_identifier, error });
    }
    if (!isRemembered) remember(context, entry);
    isRemembered = true;
    if (isLast) return;
    await sleep(clock, waitMs, stopping).catch(() => {
      // The daemon stops: one last try, then it gives up.
    });
  }
}

/** Reads what landed lately; what is remembered and not written stays. */
export async function readLandings({ store, project, clock, state }: OrchestratorContext): Promise<void> {
  const rows = await store.landed.latest(project, { from: clock.now() - newsMs, limit: mostCompleted });
  const entries = [...rows.map(entryFrom), ...state.completed.values()].toSorted((left, right) => left.at - right.at);
  state.completed.clear();
  for (const entry of entries) keepLatest(state.completed, entry);
}

async function write(
  { store, project }: OrchestratorContext,
  entry: CompletedEntry,
  openAt: number | null,
): Promise<CompletedEntry> {
  const { issue, state, at } = entry;
  const { id: issueId, identifier, title = null, url = null } = issue;
  const since = openAt ?? (await store.runs.latestStarts(project, [issueId])).get(issueId) ?? at;
  return entryFrom(await store.landed.note({ project, issueId, identifier, title, url, state, at }, since));
}

function remember({ state, notify }: OrchestratorContext, entry: CompletedEntry): void {
  keepLatest(state.completed, entry);
  notify();
}

function keepLatest(completed: Map<string, CompletedEntry>, entry: CompletedEntry): void {
  completed.delete(entry.issue.id);
  completed.set(entry.issue.id, entry);
  const oldest = completed.keys().next().value;
  if (completed.size > mostCompleted && oldest !== undefined) completed.delete(oldest);
}

function entryFrom({ issueId: id, identifier, title, url, state, at }: LandedIssue): CompletedEntry {
  return { issue: { id, identifier, url, ...(title === null ? {} : { title }) }, state, at };
}
