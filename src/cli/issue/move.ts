import type { BoardStatus } from '../../core/issue/board-status.ts';
import { exitCodes } from '../exit-codes.ts';
import { answer, type BoardContext } from './board-context.ts';
import { issueAsJson } from './issue-json.ts';

/** `baton issue move ID STATUS`: along the map, as a person. */
export async function move(
  name: string,
  to: BoardStatus,
  flags: { readonly reason?: string },
  context: BoardContext,
): Promise<number> {
  const { board, surroundings } = context;
  // Whoever has a shell moves as a person, also a hook of a run: the way of an agent is its tool.
  const person =
    context.person.kind === 'run' ? ({ kind: 'person', name: surroundings.userName } as const) : context.person;
  const { id, status } = await board.find(name);
  const issue = await board.move(id, to, { author: person, reason: flags.reason ?? null });
  const moved = status !== issue.status;
  const text = moved ? `is now in ${to}` : `was in ${to} already`;
  answer(context, { moved, issue: await issueAsJson(board, issue) }, `${issue.identifier} ${text}.`);
  return exitCodes.ok;
}
