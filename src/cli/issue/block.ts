import { exitCodes } from '../exit-codes.ts';
import { answer, type BoardContext } from './board-context.ts';
import { issueAsJson } from './issue-json.ts';

export interface BlockFlags {
  /** The issues that have to end first. */
  readonly by: readonly string[];
  readonly reason?: string;
}

/** `baton issue block ID --by OTHER` and `baton issue unblock ID --by OTHER`. */
export async function block(
  verb: 'block' | 'unblock',
  name: string,
  flags: BlockFlags,
  context: BoardContext,
): Promise<number> {
  const { board, person } = context;
  let issue = await board.find(name);
  const blockers = [];
  for (const other of flags.by) blockers.push(await board.find(other));
  for (const { id } of blockers)
    issue = await board[verb](issue.id, id, { author: person, reason: flags.reason ?? null });
  const waits = issue.blockers.map(({ identifier, status }) => `${identifier} (${status})`).join(', ');
  const text = waits === '' ? 'waits for nothing' : `waits for ${waits}`;
  answer(context, { issue: await issueAsJson(board, issue) }, `${issue.identifier} ${text}.`);
  return exitCodes.ok;
}
