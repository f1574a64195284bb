import type { Clock } from '../../clock/clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import type { Settings } from '../../core/settings.ts';
import { askAsBaton } from '../../orchestrator/status/ask-as-baton.ts';
import type { Store } from '../../store/store.ts';
import type { CommentOnIssue } from '../../telemetry/notify/send-message.ts';
import type { Tracker } from '../../tracker/tracker.ts';

interface CommentParts {
  readonly settings: () => Settings;
  readonly trackerFor: (settings: Settings) => Tracker;
  readonly store: Store;
  readonly project: string;
  readonly clock: Clock;
}

/**
 * Comments on an issue in Baton's own name. An earlier try may have arrived without an answer, so before another one the
 * comments are read, and the first line is searched in them.
 */
export function commentOnIssue(parts: CommentParts): CommentOnIssue {
  return async ({ issueId, body, isRepeated, signal }) => {
    const tracker = parts.trackerFor(parts.settings());
    if (tracker.changes === null)
      throw new BatonError('tracker_read_only', `Baton cannot comment in trackers of the kind ${tracker.kind}.`);
    const ask = { signal, caller: { job: 'notify', cause: 'person' } } as const;
    const [firstLine = body] = body.split('\n');
    const before = isRepeated ? await tracker.fetchComments?.(issueId, ask) : undefined;
    if (before?.comments.some((comment) => comment.body.includes(firstLine)) === true) return;
    await tracker.changes.addComment(issueId, body, { kind: 'orchestrator' }, askAsBaton(parts, issueId, ask));
  };
}
