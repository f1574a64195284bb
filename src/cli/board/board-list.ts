import type { BoardColumn } from '../../tracker/board/read-board.ts';
import { cardOf } from './card.ts';

/** The board as lines, a heading for each status: for narrow terminals, pipes and files. */
export function boardAsList(columns: readonly BoardColumn[]): string {
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
