import { exitCodes } from '../exit-codes.ts';
import { answer, type BoardContext } from '../issue/board-context.ts';
import { issuesAsJson } from '../issue/issue-json.ts';
import { boardAsColumns } from './board-columns.ts';
import { boardAsList } from './board-list.ts';

/** `baton board`: side by side where the terminal is wide enough, else one below the other. */
export async function board(flags: { readonly limit: number }, context: BoardContext): Promise<number> {
  const { stdout } = context.surroundings;
  const columns = await context.board.columns(flags.limit);
  const filled = columns.filter(({ count }) => count > 0);
  const sideBySide = stdout.isTTY && stdout.columns ? boardAsColumns(filled, stdout.columns) : null;
  const json = [];
  for (const { status, count, issues } of columns) {
    json.push({ status, count, issues: await issuesAsJson(context.board, issues) });
  }
  const nothing = 'The board is empty; `baton issue add "A title"` makes the first issue.';
  const text = filled.length === 0 ? nothing : (sideBySide ?? boardAsList(filled));
  answer(context, { columns: json }, text);
  return exitCodes.ok;
}
