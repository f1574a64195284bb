import { type Clock, timedOut, within } from '../clock/clock.ts';
import { BatonError } from '../core/baton-error.ts';
import type { NewComments } from '../core/command/message-text.ts';
import { isTrusted } from '../core/text/fence.ts';
import type { Tracker } from '../tracker/tracker.ts';
import type { TextTrust } from './tool.ts';

export interface CommentsSinceParts {
  readonly tracker: Tracker;
  readonly trust: TextTrust;
  readonly trustedAuthors: readonly string[];
  readonly clock: Clock;
}

/** The clock of a tracker may be behind ours by this much. A comment that is read twice does no harm. */
const clockSkewMs = 120_000;
/** A run does not wait longer for comments. */
const longestReadMs = 20_000;

const caller = { job: 'run', cause: 'revalidation' } as const;

/** Reads the comments that others than runs wrote since then, with one request. A comment without a time counts. */
export async function commentsSince(
  { tracker, trust, trustedAuthors, clock }: CommentsSinceParts,
  { issueId, since }: { readonly issueId: string; readonly since: number },
  signal: AbortSignal,
): Promise<NewComments> {
  const late = new AbortController();
  const reading = tracker.fetchComments?.(issueId, { signal: AbortSignal.any([signal, late.signal]), caller });
  if (reading === undefined) return { comments: [], hasEarlier: false };
  const said = await within(clock, longestReadMs, reading);
  if (said === timedOut) {
    late.abort();
    throw new BatonError('tracker_request', 'The tracker did not answer in time.');
  }
  const { comments, hasEarlier } = await trust.ofComments(said);
  const isNew = ({ at }: { readonly at: number | null }): boolean => at === null || at >= since - clockSkewMs;
  return {
    comments: comments
      .filter((comment) => isNew(comment) && comment.isByRun !== true)
      .map((comment) => ({ ...comment, isTrusted: isTrusted(comment, trustedAuthors) })),
    hasEarlier: hasEarlier && comments.every(isNew),
  };
}
