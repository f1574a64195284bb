import { type Clock, sleep } from '../clock/clock.ts';
import type { Store } from './store.ts';

/** How long a notification is kept after its cause was last there. */
const notificationsKeptMs = 30 * 24 * 3_600_000;
/** How long a landing is kept. */
const finishedKeptMs = 30 * 24 * 3_600_000;

export interface Retention {
  readonly now: number;
  /** Finished runs with their events, and questions that are not open. Null keeps them for ever, here and below. */
  readonly runsOlderThanMs: number | null;
  /** Executed commands; the newest of each kind stays, because it tells how things stand. */
  readonly commandsOlderThanMs: number | null;
  /** Request counts by minute; those by day stay. */
  readonly requestMinutesOlderThanMs: number | null;
  /** Rows a step. Between two steps others have their turn. */
  readonly step: number;
}

export interface Pruned {
  /** So that the caller removes their transcripts, which are files. */
  readonly runIds: readonly string[];
  readonly events: number;
  readonly questions: number;
  readonly commands: number;
  readonly requestMinutes: number;
  readonly notifications: number;
  readonly finished: number;
}

/** Removes what is older than wanted, in small steps, so that no other write waits long. Stopped, it continues next time. */
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
  const commands = await inSteps(retention.commandsOlderThanMs, (before) => store.commands.prune(before, step));
  const requestMinutes = await inSteps(retention.requestMinutesOlderThanMs, (before) =>
    store.requestCounts.prune(before, step),
  );
  const notifications = await inSteps(notificationsKeptMs, (before) => store.notifications.prune(before, step));
  const finished = await inSteps(finishedKeptMs, (before) => store.finishedIssues.prune(before, step));
  return { runIds, events, questions, commands, requestMinutes, notifications, finished };
}

/** Until a step removes nothing. Gives the sum. */
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
