import { type Clock, sleep } from '../clock/clock.ts';
import type { Store } from './store.ts';

/** How long a notification is kept after its cause was last seen. */
const notificationsKeptMs = 30 * 24 * 3_600_000;
/** How long the record of a finished issue is kept. */
const finishedKeptMs = 30 * 24 * 3_600_000;

export interface Retention {
  readonly now: number;
  /**
   * Finished runs with their events, questions that are not open, messages that do not wait, and checks of pull
   * requests that ended, tasks that are over, and artifacts of issues whose change was merged. Null keeps them forever, here and below.
   */
  readonly runsOlderThanMs: number | null;
  /** Executed commands; the newest of each kind stays, because it is the current state. */
  readonly commandsOlderThanMs: number | null;
  /** Request counts by minute; those by day stay. */
  readonly requestMinutesOlderThanMs: number | null;
  /** Rows in one step; other writes run between two steps. */
  readonly step: number;
}

export interface Pruned {
  /** The caller removes their transcripts, which are files. */
  readonly runIds: readonly string[];
  readonly events: number;
  readonly questions: number;
  readonly messages: number;
  readonly commands: number;
  readonly requestMinutes: number;
  readonly notifications: number;
  readonly finished: number;
  readonly checks: number;
  readonly tasks: number;
  readonly artifacts: number;
}

/** What `pruneStore` would remove now, and the bytes of its artifacts. Changes nothing. */
export async function countOld(
  store: Store,
  retention: Retention,
): Promise<Pruned & { readonly artifactBytes: number }> {
  const runsBefore = timeBefore(retention, retention.runsOlderThanMs);
  const artifacts = runsBefore === null ? { count: 0, bytes: 0 } : await store.artifacts.countOld(runsBefore);
  const runIds = runsBefore === null ? [] : await store.runs.old(runsBefore);
  const counts = await forEachTable(store, retention, (before, table) => table.countOld(before));
  return { runIds, ...counts, artifacts: artifacts.count, artifactBytes: artifacts.bytes };
}

/** Removes rows past their retention in small steps, so that no other write waits long. After a stop the next call continues. */
export async function pruneStore(
  store: Store,
  clock: Clock,
  retention: Retention,
  signal?: AbortSignal,
): Promise<Pruned> {
  const { step } = retention;
  const runIds: string[] = [];
  const inSteps = (before: number | null, prune: (before: number) => Promise<number>) =>
    before === null ? 0 : repeat(clock, signal, () => prune(before));
  const runsBefore = timeBefore(retention, retention.runsOlderThanMs);
  const events = await inSteps(runsBefore, (before) => store.runEvents.prune(before, step));
  await inSteps(runsBefore, async (before) => {
    const removed = await store.runs.prune(before, step);
    runIds.push(...removed);
    return removed.length;
  });
  const counts = await forEachTable(store, retention, (before, table) =>
    inSteps(before, (at) => table.prune(at, step)),
  );
  const artifacts = await inSteps(runsBefore, (before) => store.artifacts.prune(before, step));
  return { runIds, ...counts, events, artifacts };
}

interface PrunedTable {
  countOld(before: number): Promise<number>;
  prune(before: number, limit: number): Promise<number>;
}

/** One after the other; 0 for a table whose rows stay forever. */
async function forEachTable(
  store: Store,
  retention: Retention,
  act: (before: number, table: PrunedTable) => Promise<number> | number,
): Promise<Omit<Pruned, 'runIds' | 'artifacts'>> {
  const { runsOlderThanMs, commandsOlderThanMs, requestMinutesOlderThanMs } = retention;
  const of = async (olderThanMs: number | null, table: PrunedTable): Promise<number> => {
    const before = timeBefore(retention, olderThanMs);
    return before === null ? 0 : act(before, table);
  };
  return {
    events: await of(runsOlderThanMs, store.runEvents),
    questions: await of(runsOlderThanMs, store.questions),
    messages: await of(runsOlderThanMs, store.messages),
    commands: await of(commandsOlderThanMs, store.commands),
    requestMinutes: await of(requestMinutesOlderThanMs, store.requestCounts),
    notifications: await of(notificationsKeptMs, store.notifications),
    finished: await of(finishedKeptMs, store.finishedIssues),
    checks: await of(runsOlderThanMs, store.checks),
    tasks: await of(runsOlderThanMs, store.tasks),
  };
}

function timeBefore({ now }: Retention, olderThanMs: number | null): number | null {
  return olderThanMs === null ? null : now - olderThanMs;
}

/** Repeats until a step removes nothing. Returns the sum. */
async function repeat(clock: Clock, signal: AbortSignal | undefined, once: () => Promise<number>): Promise<number> {
  let removed = 0;
  while (!signal?.aborted) {
    const now = await once();
    removed += now;
    if (now === 0) break;
    // SQLite answers without leaving the event loop's turn; the daemon's timers and sockets wait for this one.
    await sleep(clock, 0);
  }
  return removed;
}
