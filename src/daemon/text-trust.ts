import type { Clock } from '../clock/clock.ts';
import type { Issue } from '../core/issue/issue.ts';
import type { Logger } from '../core/logger.ts';
import type { Settings } from '../core/settings.ts';
import { isTrusted } from '../core/text/fence.ts';
import type { Store } from '../store/store.ts';
import type { TextTrust } from '../tools/tool.ts';
import type { Ask, Tracker } from '../tracker/tracker.ts';

export interface TextTrustParts {
  readonly runTexts: Store['runTexts'];
  readonly project: string;
  readonly trackerFor: (settings: Settings) => Tracker;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Whose words a text is. The author alone does not decide: others may edit what a trusted person wrote, and a run may
 * write in the name of the person whose key Baton has. What must hold:
 *
 * - An issue is trusted only if everyone who wrote its title or description is, and no run did.
 * - A comment is trusted only if its author is, and no run wrote or edited it.
 * - What cannot be found out is not trusted. Text that is not trusted has no authors here.
 */
export function createTextTrust(parts: TextTrustParts): (settings: Settings) => TextTrust {
  const { runTexts, project, clock, logger, trackerFor } = parts;
  return (settings) => {
    const { trustedAuthors } = settings.tracker;
    const isVouchedFor = async (issue: Issue, ask: Ask): Promise<boolean> => {
      if ((await runTexts.among(project, 'issue', [issue.id])).size > 0) return false;
      const writers = (await trackerFor(settings).fetchWriters?.(issue.id, ask)) ?? [];
      return writers.every((authorNames) => isTrusted({ authorNames }, trustedAuthors));
    };
    return {
      ofIssue: async (issue, ask) => {
        if (!isTrusted(issue, trustedAuthors)) return issue;
        const isSafe = await isVouchedFor(issue, ask).catch((error: unknown) => {
          ask.signal?.throwIfAborted();
          logger.warn('writers_unreadable', { issue_id: issue.id, issue_identifier: issue.identifier, error });
          return false;
        });
        return isSafe ? issue : { ...issue, authorNames: [] };
      },
      ofComments: async (said) => {
        const ids = said.comments.flatMap(({ id }) => id ?? []);
        const ofRuns = await runTexts.among(project, 'comment', ids);
        const comments = said.comments.map((comment) =>
          comment.id !== undefined && ofRuns.has(comment.id) ? { ...comment, authorNames: [], isByRun: true } : comment,
        );
        return { ...said, comments };
      },
      note: ({ kind, id }, runId) => runTexts.put({ project, kind, textId: id, runId, at: clock.now() }),
    };
  };
}
