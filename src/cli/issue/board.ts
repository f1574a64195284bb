import type { BoardColumns, BoardIssue } from '../../client/schema/board.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { cut, padded, wrapped } from '../cell-text.ts';
import { exitCodes } from '../exit-codes.ts';
import { answer, type BoardContext } from './board-context.ts';

type BoardColumn = BoardColumns['columns'][number];

/** `baton board`: side by side if the terminal is wide enough, else one below the other. */
export async function board(flags: { readonly limit: number }, context: BoardContext): Promise<number> {
  const { stdout } = context.surroundings;
  const { columns } = await context.project.board(flags.limit);
  const filled = columns.filter(({ count }) => count > 0);
  const sideBySide = stdout.isTTY && stdout.columns ? boardAsColumns(filled, stdout.columns) : null;
  const nothing = context.here('The board is empty. `baton issue add "A title"` creates the first issue.');
  const text = filled.length === 0 ? nothing : (sideBySide ?? boardAsList(filled));
  answer(context, { columns }, text);
  return exitCodes.ok;
}

/** A narrower column holds hardly a word of a title, and a wider one is harder to read than a list. */
const narrowest = 18;
const widest = 40;
const gap = 2;
const titleLines = 2;

/** The statuses side by side, or null when the terminal is too narrow for them. */
function boardAsColumns(columns: readonly BoardColumn[], terminalWidth: number): string | null {
  const share = Math.floor((terminalWidth + gap) / columns.length) - gap;
  if (share < narrowest) return null;
  const width = Math.min(share, widest);
  const drawn = columns.map((column) => drawColumn(column, width));
  const height = Math.max(...drawn.map((lines) => lines.length));
  const rows = Array.from({ length: height }, (_, row) =>
    drawn
      .map((lines) => padded(lines[row] ?? '', width))
      .join(' '.repeat(gap))
      .trimEnd(),
  );
  return rows.join('\n');
}

function drawColumn({ status, count, issues }: BoardColumn, width: number): string[] {
  const cards = issues
    .map(cardOf)
    .flatMap(({ head, title, waits }) => [
      '',
      head,
      ...wrapped(title, width, titleLines),
      ...(waits === '' ? [] : [cut(waits, width)]),
    ]);
  const more = count > issues.length ? ['', `… ${count - issues.length} more`] : [];
  return [`${status} (${count})`, '─'.repeat(width), ...cards.slice(1), ...more];
}

/** The board as lines, with a heading for each status: for narrow terminals, pipes and files. */
function boardAsList(columns: readonly BoardColumn[]): string {
  return columns
    .map(({ status, count, issues }) => {
      const cards = issues.map(cardOf).map(({ head, title, waits }) => {
        const note = waits === '' ? '' : ` (${waits})`;
        return `  ${head}  ${title}${note}`;
      });
      const more = count > issues.length ? [`  … ${count - issues.length} more`] : [];
      return [`${status} (${count})`, ...cards, ...more].join('\n');
    })
    .join('\n\n');
}

/** What the board shows of an issue, made harmless. */
interface Card {
  readonly head: string;
  readonly title: string;
  /** What it waits for; empty when it waits for nothing. */
  readonly waits: string;
}

function cardOf(issue: BoardIssue): Card {
  const open = issue.blocked_by.filter(({ status }) => status !== 'done' && status !== 'cancelled');
  const isOver = issue.status === 'done' || issue.status === 'cancelled';
  return {
    head: issue.priority === null ? issue.identifier : `${issue.identifier} P${issue.priority}`,
    title: harmlessLine(issue.title),
    waits: isOver || open.length === 0 ? '' : `waits for ${open.map(({ identifier }) => identifier).join(', ')}`,
  };
}
