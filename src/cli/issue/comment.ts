import { exitCodes } from '../exit-codes.ts';
import { answer, type BoardContext } from './board-context.ts';
import { textOrStdin } from './read-stdin.ts';

/** Read from stdin at most; the board itself says how much a comment may have. */
const mostCommentBytes = 1024 * 1024;

/** `baton issue comment ID TEXT`. */
export async function comment(name: string, text: string, context: BoardContext): Promise<number> {
  const { board, person, surroundings } = context;
  const { id, identifier } = await board.find(name);
  const { seq, at, author, body } = await board.comment(
    id,
    await textOrStdin(text, surroundings, mostCommentBytes),
    person,
  );
  const made = { seq, at: new Date(at).toISOString(), author, body };
  answer(context, { identifier, comment: made }, `${identifier} has a new comment.`);
  return exitCodes.ok;
}
