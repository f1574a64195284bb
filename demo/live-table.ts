import { stripVTControlCharacters } from 'node:util';
import type { Output } from '../src/daemon/surroundings.ts';
import { statusWords, type TicketRow } from './ticket-rows.ts';

const colors: Record<TicketRow['status'], string> = {
  waiting: '\u001b[2m',
  running: '\u001b[36m',
  asking: '\u001b[1;35m',
  retrying: '\u001b[33m',
  waiting_quota: '\u001b[33m',
  held: '\u001b[35m',
  review: '\u001b[34m',
  done: '\u001b[32m',
};
const plain = '\u001b[0m';

/** For a terminal that does not tell its width. */
const usualColumns = 80;

export interface LiveTable {
  draw(rows: readonly TicketRow[], footer: string): void;
  /** Writes lines above the table, where they stay; the table stands below them when it is drawn next. */
  say(lines: readonly string[]): void;
}

/** Shows the tickets as a table that is drawn over itself, for a terminal. No line is wider than the terminal. */
export function liveTable(output: Output, color: boolean): LiveTable {
  let drawnLines = 0;
  const goUp = (): string => (drawnLines === 0 ? '' : `\u001b[${drawnLines}A`);
  return {
    draw(rows, footer) {
      const width = output.columns || usualColumns;
      const paint = (status: TicketRow['status'], text: string): string =>
        color ? `${colors[status]}${text}${plain}` : text;
      const titles = Math.max(...rows.map(({ title }) => title.length), 0);
      const lines = rows.map(({ identifier, title, status, detail }) => {
        const front = `${identifier.padEnd(9)} ${title.slice(0, 34).padEnd(Math.min(titles, 34))}  `;
        const rest = cut(`${statusWords[status].padEnd(8)} ${detail}`, width - front.length - 1);
        return `${cut(front, width - 1)}${paint(status, rest)}`;
      });
      const all = ['', ...lines, '', cut(footer, width - 1)];
      output.write(`${goUp()}${all.map((line) => `\r\u001b[2K${line}\n`).join('')}`);
      drawnLines = all.length;
    },
    say(lines) {
      output.write(`${goUp()}\r\u001b[J${lines.map((line) => `${line}\n`).join('')}`);
      drawnLines = 0;
    },
  };
}

function cut(text: string, width: number): string {
  const clean = stripVTControlCharacters(text);
  if (width <= 0) return '';
  return clean.length <= width ? clean : `${clean.slice(0, width - 1)}…`;
}
