import { toBatonError } from '../core/baton-error.ts';
import type { CommandAnswer, CommandKind } from '../core/command.ts';
import type { Command } from '../store/commands.ts';
import type { OrchestratorContext } from './context.ts';

const deskKinds = ['issue_move', 'issue_comment', 'issue_file', 'issue_edit'] as const;

/** Commands about an issue itself, and not about the work on it. */
export type DeskKind = (typeof deskKinds)[number];

export function isDeskKind(kind: CommandKind): kind is DeskKind {
  return (deskKinds as readonly CommandKind[]).includes(kind);
}

/** Changes an issue of Baton's own board. The board decides what is allowed, and keeps who did it and why. */
export async function changeIssue(
  context: OrchestratorContext,
  { id, author, payload, begun }: Command,
  kind: DeskKind,
): Promise<CommandAnswer> {
  const desk = context.issueDesk?.() ?? null;
  if (desk === null) return refused('these issues are kept by another tracker, and are changed there');
  const { issue, to, text, reason, ...fields } = payload;
  const by = { commandId: id, author, reason: typeof reason === 'string' ? reason : null };
  try {
    if (kind === 'issue_file') return done(await desk.file(fields, by));
    if (typeof issue !== 'string') return refused('the command names no issue');
    if (kind === 'issue_edit') return done(await desk.edit(issue, fields, by));
    if (kind === 'issue_move') return done(await desk.move(issue, String(to ?? ''), by));
    // A comment is the one that could be there twice: that it is about to be written is noted before.
    if (begun !== null) return done(`the comment on ${issue} was being written when the daemon ended; see the issue`);
    await context.store.commands.begin(id, 'it is written');
    return done(await desk.comment(issue, String(text ?? ''), by));
  } catch (thrown) {
    const error = toBatonError(thrown);
    if (error.retryable) throw error;
    return refused(error.message);
  }
}

function done(text: string): CommandAnswer {
  return { status: 'done', text };
}

function refused(text: string): CommandAnswer {
  return { status: 'refused', text };
}
