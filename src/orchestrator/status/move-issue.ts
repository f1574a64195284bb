import { BatonError } from '../../core/baton-error.ts';
import type { Author } from '../../core/issue/author.ts';
import type { Issue } from '../../core/issue/issue.ts';
import type { MoveAsk, TrackerChanges } from '../../tracker/tracker.ts';
import type { BaseParts } from '../parts.ts';
import type { TrackerReads } from '../poll/tracker-reads.ts';

export interface MoveParts extends Pick<BaseParts, 'clock' | 'stopping'> {
  readonly reads: TrackerReads;
}

interface Move extends Omit<MoveAsk, 'signal'> {
  readonly id: string;
  readonly to: string;
  readonly by: Author;
}

/** How long a tracker may take to answer a change. */
const longestMs = 120_000;

/**
 * Asks a tracker for a change. Gives up when the daemon stops and when the tracker is silent: the caller tries again, and
 * finds the change made or not.
 */
export async function askTracker<T>(
  { clock, stopping }: Pick<BaseParts, 'clock' | 'stopping'>,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const tooLong = new AbortController();
  const silent = new BatonError('tracker_request', 'The tracker has not answered for two minutes.');
  const timer = clock.schedule(longestMs, () => tooLong.abort(silent));
  try {
    return await ask(AbortSignal.any([stopping, tooLong.signal]));
  } finally {
    timer.cancel();
  }
}

/** Moves an issue in its tracker, as `askTracker`. */
export async function moveIssue(parts: MoveParts, changes: TrackerChanges, move: Move): Promise<Issue> {
  const { id, to, by, ...ask } = move;
  try {
    return await askTracker(parts, (signal) => changes.moveIssue(id, to, by, { ...ask, signal }));
  } finally {
    parts.reads.forget(id);
  }
}
