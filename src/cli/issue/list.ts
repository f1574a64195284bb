import type { BoardStatus } from '../../core/issue/board-status.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { BoardIssue } from '../../store/tables/board-issues.ts';
import { cut, padded, widthOf } from '../cell-text.ts';
import { exitCodes } from '../exit-codes.ts';
import { answer, type BoardContext } from './board-context.ts';
import { issuesAsJson } from './issue-json.ts';

export interface ListFlags {
  readonly status?: readonly BoardStatus[];
  readonly label?: readonly string[];
  readonly limit: number;
}

/** `baton issue list`: one line an issue, status by status, the newest change first. */
export async function list(flags: ListFlags, context: BoardContext): Promise<number> {
  const { board, surroundings } = context;
  // One more than asked for tells whether there are more.
  const query = { statuses: flags.status ?? [], labels: flags.label ?? [], limit: flags.limit + 1 };
  const found = await board.list(query);
  const issues = found.slice(0, flags.limit);
  const more = found.length > issues.length;
  const lines = issues.length === 0 ? ['No issues.'] : table(issues, surroundings.stdout);
  if (more) lines.push('There are more; raise --limit.');
  answer(context, { issues: await issuesAsJson(board, issues), more }, lines.join('\n'));
  return exitCodes.ok;
}

/** In a terminal no line is wider than it; elsewhere nothing is cut. */
function table(issues: readonly BoardIssue[], { isTTY, columns }: { isTTY?: boolean; columns?: number }): string[] {
  const rows = [
    ['ISSUE', 'STATUS', 'P', 'TITLE', 'LABELS'],
    ...issues.map(({ identifier, status, priority, title, labels }) =>
      [identifier, status, priority === null ? '-' : String(priority), title, labels.join(', ')].map(harmlessLine),
    ),
  ];
  const titleLimit = 60;
  const width = (column: number): number => Math.max(...rows.map((row) => widthOf(row[column] ?? '')));
  const widths = [0, 1, 2, 3].map((column) => (column === 3 && isTTY ? Math.min(width(3), titleLimit) : width(column)));
  return rows.map((row) => {
    const cells = row.map((cell, column) => (column === 4 ? cell : padded(cell, widths[column] ?? 0)));
    const line = cells.join('  ').trimEnd();
    return isTTY && columns ? cut(line, columns) : line;
  });
}
