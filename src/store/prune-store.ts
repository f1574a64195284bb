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
   * requests that ended. Null keeps them forever, here and below.
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
}

/** Removes rows past their retention in small steps, so that no other write waits long. After a stop the next call continues. */
export async function pruneStore(
  store: Store,
  clock: Clock,
  retention: Retention,
  signal?: AbortSignal,
): Promise<Pruned> {
  const { now, step } = retention;
  const runIds: string[] = [];
  const inSteps = (olderThanMs: number | null, prune: (before: number) => Promise<number>) =>
    olderThanMs === null ? 0 : repeat(clock, signal, () => prune(now - olderThanMs));
  const events = await inSteps(retention.runsOlderThanMs, (before) => store.runEvents.prune(before, step));
  await inSteps(retention.runsOlderThanMs, async (before) => {
    const removed = await store.runs.prune(before, step);
    runIds.push(...removed);
    return removed.length;
  });
  const questions = await inSteps(retention.runsOlderThanMs, (before) => store.questions.prune(before, step));
  const messages = await inSteps(retention.runsOlderThanMs, (before) => store.messages.prune(before, step));
  const commands = await inSteps(retention.commandsOlderThanMs, (before) => store.commands.prune(before, step));
  const requestMinutes = await inSteps(retention.requestMinutesOlderThanMs, (before) =>
    store.requestCounts.prune(before, step),
  );
  const notifications = await inSteps(notificationsKeptMs, (before) => store.notifications.prune(before, step));
  const finished = await inSteps(finishedKeptMs, (before) => store.finishedIssues.prune(before, step));
  const checks = await inSteps(retention.runsOlderThanMs, (before) => store.checks.prune(before, step));
  return { runIds, events, questions, messages, commands, requestMinutes, notifications, finished, checks };
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
