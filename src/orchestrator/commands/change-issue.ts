import { toBatonError } from '../../core/baton-error.ts';
import type { CommandKind } from '../../core/command/command.ts';
import { type CommandAnswer, done, refused } from '../../core/command/command-answers.ts';
import { normalizeState } from '../../core/issue/issue.ts';
import { certainTime } from '../../core/text/time-text.ts';
import type { Command } from '../../store/tables/commands.ts';
import type { BaseParts } from '../parts.ts';
import { withMessage } from './with-message.ts';

export type ChangeIssueParts = Pick<BaseParts, 'project' | 'source' | 'store' | 'trackerFor'>;

const issueEditKinds = ['issue_move', 'issue_comment', 'issue_file', 'issue_edit'] as const;

/** Commands that change the issue itself, not the work on it. */
export type IssueEditKind = (typeof issueEditKinds)[number];

export function isIssueEditKind(kind: CommandKind): kind is IssueEditKind {
  return (issueEditKinds as readonly CommandKind[]).includes(kind);
}

/** Changes an issue of Baton's own board. The board decides what is allowed, and records who did it and why. */
export async function changeIssue(
  parts: ChangeIssueParts,
  command: Command,
  kind: IssueEditKind,
): Promise<CommandAnswer> {
  const { id, author, payload, begun } = command;
  const { settings } = parts.source.read().workflow;
  const { editor } = parts.trackerFor(settings);
  if (editor === undefined)
    return refused('tracker_elsewhere', 'These issues are in another tracker. Change them there.');
  const { issue, to, text: said, reason, ...fields } = payload;
  const by = { commandId: id, author, reason: typeof reason === 'string' ? reason : null };
  try {
    if (kind === 'issue_file') {
      const filed = await editor.file(fields, by);
      const text = filed.created ? `Filed ${filed.issue}.` : `${filed.issue} was filed with this key before.`;
      return done('issue_filed', text, filed);
    }
    if (typeof issue !== 'string') return refused('no_issue_named', 'The command names no issue.');
    if (kind === 'issue_edit') {
      const edited = await editor.edit(issue, fields, by);
      return done('issue_edited', `Changed ${edited}.`, { issue: edited });
    }
    if (kind === 'issue_move') {
      const state = String(to ?? '');
      // A person who moves an issue to where agents work on it tells the next agent why.
      const isForAgent =
        author.kind === 'person' && settings.tracker.activeStates.map(normalizeState).includes(normalizeState(state));
      const words = { kind: 'reason', body: isForAgent ? by.reason?.trim() || null : null } as const;
      return await withMessage(parts, await editor.idOf(issue), command, words, async () => {
        const moved = await editor.move(issue, state, by);
        const text = moved.moved ? `${moved.issue} is now in ${state}.` : `${moved.issue} was in ${state} already.`;
        return done('issue_moved', text, { ...moved, state });
      });
    }
    // Only a comment could be written twice, so its beginning is recorded before it is written.
    if (begun !== null)
      return done(
        'comment_uncertain',
        `Baton was interrupted while it wrote the comment on ${issue}. Check the issue to see whether the comment is there.`,
        { issue },
      );
    await parts.store.commands.begin(id, 'it is written');
    const commented = await editor.comment(issue, String(said ?? ''), by);
    const data = { ...commented, at: certainTime(commented.at) };
    return done('comment_added', `Added the comment to ${commented.issue}.`, data);
  } catch (thrown) {
    const error = toBatonError(thrown);
    if (error.retryable) throw error;
    return refused(error.code, error.message, error.details);
  }
}
