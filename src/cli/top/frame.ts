import { cellText, padded, wrapped } from '../cell-text.ts';
import { bindings } from './input/press-key.ts';
import { detailsLines } from './lines/details-lines.ts';
import { footLines } from './lines/foot-lines.ts';
import { headLines } from './lines/head-lines.ts';
import { cell, exactly, type Line } from './lines/line.ts';
import { listLines } from './lines/list-lines.ts';
import { rowOf, type TopState } from './top-state.ts';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface Frame {
  /** Exactly as many as the terminal has rows, each exactly as wide as it has columns. */
  readonly lines: readonly Line[];
  /** The first visible line of the list and of the page, after scrolling as far as needed. */
  readonly listTop: number;
  readonly pageTop: number;
  /** How many lines of the middle are visible: the size of a page. */
  readonly height: number;
}

/** From this height on there is space for blank lines between the parts, and for the log. */
const spaciousRows = 16;
const mostHead = 8;
const mostLog = 5;

/** The whole screen. While the daemon does not answer, times stand still. */
export function drawFrame(state: TopState, { columns, rows }: Size, at: number): Frame {
  const seenAt = state.gone === null ? at : (state.answeredAt ?? at);
  const isSpacious = rows >= spaciousRows;
  const blank: readonly Line[] = isSpacious ? [exactly([], columns)] : [];
  const foot = footLines(state, columns).slice(-rows);
  const left = rows - foot.length;
  const headRows = Math.min(mostHead, isSpacious ? Math.floor(left / 2) : Math.min(3, left - 1));
  const head = headLines(state, at, columns, headRows);
  const log = isSpacious && state.screen !== 'help' ? logLines(state.log, columns) : [];
  const height = Math.max(0, left - head.length - log.length - 2 * blank.length);
  const middle =
    state.screen === 'list' ? listPart(state, seenAt, columns, height) : pagePart(state, seenAt, columns, height);
  const body = filled(middle.lines, columns, height);
  const lines = filled([...head, ...blank, ...body, ...log, ...blank, ...foot], columns, rows);
  return { listTop: middle.listTop, pageTop: middle.pageTop, height, lines };
}

type Middle = Pick<Frame, 'lines' | 'listTop' | 'pageTop'>;

/** The part of the list around the selected row, scrolled no further than needed. */
function listPart(state: TopState, at: number, columns: number, height: number): Middle {
  // Before the first answer, an empty list would be wrong.
  const all = state.answeredAt === null ? [] : listLines(state, columns);
  const selected = rowOf(state);
  const place = selected === null ? 0 : all.findIndex(({ row }) => row === selected);
  // The title above the first row of a list scrolls with it.
  const from = place > 0 && all[place - 1]?.row === null && height > 1 ? place - 1 : place;
  // Where not all fits, the last line says how many rows are hidden.
  const room = all.length > height && height > 2 ? height - 1 : height;
  const most = Math.max(0, all.length - room);
  const listTop = Math.max(0, Math.min(most, from, Math.max(state.listTop, place - room + 1)));
  const lines = all.slice(listTop, listTop + room).map(({ row, draw }) => draw(at, row !== null && row === selected));
  const rowsIn = (some: typeof all): number => some.filter(({ row }) => row !== null).length;
  const [above, below] = [rowsIn(all.slice(0, listTop)), rowsIn(all.slice(listTop + room))];
  const hidden = [above > 0 ? `↑ ${above} more` : '', below > 0 ? `↓ ${below} more` : ''].filter(Boolean).join('  ');
  const last = room < height ? [exactly([cell(` ${hidden}`, 'dim')], columns)] : [];
  return { lines: [...lines, ...last], listTop, pageTop: state.pageTop };
}

function pagePart(state: TopState, at: number, columns: number, height: number): Middle {
  const row = rowOf(state);
  const all = state.screen === 'help' || row === null ? helpLines(columns) : detailsLines(row, state, at, columns);
  const pageTop = Math.max(0, Math.min(state.pageTop, all.length - height));
  const below = all.length - pageTop - height;
  const seen = all.slice(pageTop, pageTop + height);
  // The last line says that there are more, and replaces the first of them.
  const more = exactly([cell(` ↓ ${below + 1} more lines`, 'dim')], columns);
  return { lines: below > 0 && height > 1 ? seen.with(-1, more) : seen, pageTop, listTop: state.listTop };
}

const keyColumns = 10;
const mostHelpLines = 4;

/** Every key that has a help text. */
function helpLines(columns: number): readonly Line[] {
  const lines = bindings.flatMap(({ help }) => {
    if (help === undefined) return [];
    const [keys, what] = help;
    return wrapped(what, columns - keyColumns - 3, mostHelpLines).map((words, at) => [
      cell('  '),
      cell(padded(at === 0 ? keys : '', keyColumns), 'strong'),
      cell(words),
    ]);
  });
  return [[cell(' Keys', 'strong')], [], ...lines].map((line) => exactly(line, columns));
}

function logLines(log: readonly string[], columns: number): readonly Line[] {
  return log.slice(-mostLog).map((line) => exactly([cell(' '), cell(cellText(line), 'dim')], columns));
}

/** Exactly this many rows. */
function filled(lines: readonly Line[], columns: number, rows: number): readonly Line[] {
  return Array.from({ length: rows }, (_, row) => lines[row] ?? exactly([], columns));
}
