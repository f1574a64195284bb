import type { BoardColumn } from '../../tracker/board/read-board.ts';
import { cut, padded, wrapped } from '../cell-text.ts';
import { cardOf } from './card.ts';

/** A narrower column holds hardly a word of a title, and a wider one is harder to read than a list. */
const narrowest = 18;
const widest = 40;
const gap = 2;
const titleLines = 2;

/** The statuses side by side, or null when the terminal is too narrow for them. */
export function boardAsColumns(columns: readonly BoardColumn[], terminalWidth: number): string | null {
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
