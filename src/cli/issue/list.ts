import type { BoardIssue } from '../../client/schema/board.ts';
import type { BoardStatus } from '../../core/issue/board-status.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { cut } from '../cell-text.ts';
import { columns } from '../columns.ts';
import { exitCodes } from '../exit-codes.ts';
import { answer, type BoardContext } from './board-context.ts';

interface ListFlags {
  readonly status?: readonly BoardStatus[];
  readonly label?: readonly string[];
  readonly limit: number;
}

/** `baton issue list`: one line per issue, status by status, the newest change first. */
export async function list(flags: ListFlags, context: BoardContext): Promise<number> {
  const { project, surroundings } = context;
  const query = { statuses: flags.status ?? [], labels: flags.label ?? [], limit: flags.limit };
  const { issues, more } = await project.boardIssues(query);
  const lines = issues.length === 0 ? ['No issues.'] : table(issues, surroundings.stdout);
  if (more) lines.push('There are more; raise --limit.');
  answer(context, { issues, more }, lines.join('\n'));
  return exitCodes.ok;
}

/** On a terminal a title has at most this many columns. */
const longestTitle = 60;

/** On a terminal no line exceeds its width; elsewhere nothing is cut. */
function table(
  issues: readonly BoardIssue[],
  { isTTY, columns: width }: { isTTY?: boolean; columns?: number },
): string[] {
  const rows = issues.map(({ identifier, status, priority, title, labels }) => {
    const cells = [identifier, status, priority === null ? '-' : String(priority), title, labels.join(', ')];
    return cells.map(harmlessLine).map((cell, at) => (isTTY && at === 3 ? cut(cell, longestTitle) : cell));
  });
  const lines = columns(['ISSUE', 'STATUS', 'P', 'TITLE', 'LABELS'], rows);
  return isTTY && width ? lines.map((line) => cut(line, width)) : lines;
}
