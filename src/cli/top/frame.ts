import { cellText } from './lines/cell-text.ts';
import { detailsLines } from './lines/details-lines.ts';
import { footLines } from './lines/foot-lines.ts';
import { headLines } from './lines/head-lines.ts';
import { helpLines } from './lines/help-lines.ts';
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
  /** Where the list, and the page, begin now: as far as they had to move. */
  readonly listTop: number;
  readonly pageTop: number;
  /** How many lines of the middle are seen: what a page is. */
  readonly height: number;
}

/** From this height on there is room for a blank between the parts, and for the log. */
const roomyRows = 16;
const mostHead = 8;
const mostLog = 5;

/** What is to be seen. While the daemon does not answer, times stand still as they were when it last did. */
export function drawFrame(state: TopState, { columns, rows }: Size, at: number): Frame {
  const seenAt = state.gone === null ? at : (state.answeredAt ?? at);
  const isRoomy = rows >= roomyRows;
  const blank: readonly Line[] = isRoomy ? [exactly([], columns)] : [];
  const foot = footLines(state, columns).slice(-rows);
  const facts = { ...state, isKnown: state.answeredAt !== null };
  const left = rows - foot.length;
  const head = headLines(
    facts,
    at,
    columns,
    Math.min(mostHead, isRoomy ? Math.floor(left / 2) : Math.min(3, left - 1)),
  );
  const log = isRoomy && state.screen !== 'help' ? logLines(state.log, columns) : [];
  const height = Math.max(0, left - head.length - log.length - 2 * blank.length);
  const middle =
    state.screen === 'list' ? listPart(state, seenAt, columns, height) : pagePart(state, seenAt, columns, height);
  const body = Array.from({ length: height }, (_, line) => middle.lines[line] ?? exactly([], columns));
  const lines = [...head, ...blank, ...body, ...log, ...blank, ...foot].slice(0, rows);
  return { listTop: middle.listTop, pageTop: middle.pageTop, height, lines: filled(lines, columns, rows) };
}

type Middle = Pick<Frame, 'lines' | 'listTop' | 'pageTop'>;

/** The part of the list around the selected row, moved no further than needed. */
function listPart(state: TopState, at: number, columns: number, height: number): Middle {
  // Before the first answer nobody knows that nothing waits.
  const all = state.answeredAt === null ? [] : listLines(state, columns);
  const selected = rowOf(state);
  const place = selected === null ? 0 : all.findIndex(({ row }) => row === selected);
  // The title over the first row of a list comes with it.
  const from = place > 0 && all[place - 1]?.row === null && height > 1 ? place - 1 : place;
  const most = Math.max(0, all.length - height);
  const listTop = Math.max(0, Math.min(most, from, Math.max(state.listTop, place - height + 1)));
  const lines = all.slice(listTop, listTop + height).map(({ row, draw }) => draw(at, row !== null && row === selected));
  return { lines, listTop, pageTop: state.pageTop };
}

function pagePart(state: TopState, at: number, columns: number, height: number): Middle {
  const row = rowOf(state);
  const all =
    state.screen === 'help' || row === null ? helpLines(columns) : detailsLines(row, state.details, at, columns);
  const pageTop = Math.max(0, Math.min(state.pageTop, all.length - height));
  const below = all.length - pageTop - height;
  const seen = all.slice(pageTop, pageTop + height);
  // The last line says that there are more, in the place of the first of them.
  const more = exactly([cell(` ↓ ${below + 1} more lines`, 'dim')], columns);
  return { lines: below > 0 && height > 1 ? seen.with(-1, more) : seen, pageTop, listTop: state.listTop };
}

function logLines(log: readonly string[], columns: number): readonly Line[] {
  return log.slice(-mostLog).map((line) => exactly([cell(' '), cell(cellText(line), 'dim')], columns));
}

function filled(lines: readonly Line[], columns: number, rows: number): readonly Line[] {
  return Array.from({ length: rows }, (_, row) => lines[row] ?? exactly([], columns));
}
