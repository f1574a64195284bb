import type { TopState } from '../top-state.ts';
import { cellText, padded, widthOf } from './cell-text.ts';
import { type Cell, cell, exactly, type Line, type Tone } from './line.ts';
import { type RowCells, rowCells } from './row-cells.ts';
import { type ShownList, shownLists, type TopRow } from './top-rows.ts';

/** One line of the list, made only when it is seen. */
export interface ListLine {
  /** Null for a title and for what is between two lists. */
  readonly row: TopRow | null;
  draw(at: number, isSelected: boolean): Line;
}

type ListFacts = Pick<TopState, 'rows' | 'nows' | 'filter'>;

interface Counts {
  readonly shown: number;
  readonly all: number;
  readonly isFiltered: boolean;
}

/** How wide each column is; 0 where there is no room for it. The text has what is left. */
interface Widths {
  readonly all: number;
  readonly id: number;
  readonly project: number;
  readonly what: number;
  readonly time: number;
  readonly tokens: number;
  readonly title: number;
}

const lists: Readonly<
  Record<ShownList, { title: string; tone: Tone; empty: string; what: string; time: string; text: string }>
> = {
  needs_you: {
    ...{ title: 'Needs you', tone: 'you', empty: 'nothing waits for you' },
    ...{ what: 'WHAT', time: 'SINCE / LEFT', text: 'WHY' },
  },
  running: {
    ...{ title: 'Running', tone: 'strong', empty: 'no agent is at work' },
    ...{ what: 'STAGE', time: 'AGE / TURN', text: 'LAST MESSAGE' },
  },
  waiting: {
    ...{ title: 'Waiting', tone: 'strong', empty: 'nothing waits' },
    ...{ what: 'WHAT', time: 'NEXT LOOK', text: 'WHY' },
  },
  landed: {
    ...{ title: 'Landed today', tone: 'strong', empty: 'nothing yet' },
    ...{ what: 'STATE', time: 'AGO', text: 'TITLE' },
  },
};

/** The mark of a row with a blank on both sides. */
const markColumns = 3;
const gap = 2;
/** With less than this nobody can tell what a text says; a column is given up for it. */
const leastText = 12;
const givenUpFirst = ['title', 'tokens', 'what', 'project', 'time'] as const;
const wideColumns = 120;
const veryWideColumns = 150;

/** The four lists one below the other, each with its title; with a filter each says how much it hides. */
export function listLines({ rows, nows, filter }: ListFacts, columns: number): readonly ListLine[] {
  const widths = columnWidths(rows, nows.length > 1, columns);
  const byList = Map.groupBy(rows, ({ list }) => list);
  return shownLists.flatMap((list, at) => {
    const of = byList.get(list) ?? [];
    const between: ListLine[] = at === 0 ? [] : [{ row: null, draw: () => exactly([], columns) }];
    const all = nows.reduce((sum, now) => sum + now[list].length, 0);
    const title: ListLine = {
      row: null,
      draw: () => titleLine(list, { shown: of.length, all, isFiltered: filter !== '' }, widths),
    };
    return [
      ...between,
      title,
      ...of.map((row) => ({ row, draw: (now: number, sel: boolean) => rowLine(row, widths, now, sel) })),
    ];
  });
}

/** Widths that do not change from frame to frame: only identifiers and projects are measured. */
function columnWidths(rows: readonly TopRow[], hasProjects: boolean, columns: number): Widths {
  const isWide = columns >= wideColumns;
  const longest = (texts: readonly string[], least: number, most: number): number =>
    Math.min(
      most,
      texts.reduce((found, text) => Math.max(found, widthOf(text)), least),
    );
  const wanted = {
    all: columns,
    id: longest(
      rows.map(({ identifier }) => identifier),
      8,
      isWide ? 20 : 12,
    ),
    project: hasProjects ? longest([...new Set(rows.map(({ project }) => project))].map(cellText), 7, 16) : 0,
    what: isWide ? 23 : 14,
    time: 12,
    tokens: 10,
    title: columns >= veryWideColumns ? Math.floor(columns / 5) : 0,
  };
  for (const column of givenUpFirst) {
    if (textWidth(wanted, 'running') >= leastText) break;
    wanted[column] = 0;
  }
  return wanted;
}

interface Placed {
  readonly width: number;
  readonly title: string;
  readonly side?: 'right';
  readonly show: (cells: RowCells, row: TopRow) => Cell;
}

/** The columns of a list beside mark and identifier, without the text at the end. */
function columnsOf(list: ShownList, widths: Widths): readonly Placed[] {
  const words = lists[list];
  const all: Placed[] = [
    { width: widths.project, title: 'PROJECT', show: (_, { project }) => cell(cellText(project), 'dim') },
    { width: widths.what, title: words.what, show: ({ what }) => what },
    { width: widths.time, title: words.time, show: ({ time }) => cell(time) },
  ];
  // Where there is room for titles they stand below one another, whatever list they are in.
  if (list === 'running' || widths.title > 0) {
    const title = list === 'running' ? 'TOKENS' : '';
    all.push({ width: widths.tokens, title, side: 'right', show: ({ tokens }) => cell(tokens) });
  }
  if (list !== 'landed') all.push({ width: widths.title, title: 'TITLE', show: ({ title }) => cell(title, 'dim') });
  return all.filter(({ width }) => width > 0);
}

function textWidth(widths: Widths, list: ShownList): number {
  const taken = columnsOf(list, widths).reduce((sum, { width }) => sum + width + gap, 0);
  return widths.all - markColumns - widths.id - taken - gap;
}

function rowLine(row: TopRow, widths: Widths, at: number, isSelected: boolean): Line {
  const parts = rowCells(row, at);
  const blank = cell(' '.repeat(gap));
  const placed = columnsOf(row.list, widths).flatMap(({ width, side, show }) => {
    const { text, tone } = show(parts, row);
    return [blank, cell(padded(text, width, side), tone)];
  });
  const line = exactly(
    [
      cell(isSelected ? '▸' : ' '),
      parts.mark,
      cell(' '),
      cell(padded(row.identifier, widths.id), row.list === 'needs_you' ? 'strong' : 'plain'),
      ...placed,
      blank,
      parts.text,
    ],
    widths.all,
  );
  return isSelected ? line.map(({ text }) => cell(text, 'selected')) : line;
}

/** The name of the list with its count, and over each column what it is. A column whose place is taken goes without. */
function titleLine(list: ShownList, { shown, all, isFiltered }: Counts, widths: Widths): Line {
  const { title, tone, empty, text } = lists[list];
  const isHidden = isFiltered && all > 0;
  const name = isHidden ? `${title} ${shown} of ${all}` : `${title} ${shown}`;
  const first: Line = [cell(' '), cell(name, shown === 0 ? 'dim' : tone)];
  if (shown === 0) return exactly([...first, cell(isHidden ? ' with this filter' : `  ${empty}`, 'dim')], widths.all);
  let line = [...first];
  let used = 1 + widthOf(name);
  let column = markColumns + widths.id;
  for (const placed of [...columnsOf(list, widths), { width: textWidth(widths, list), title: text, side: undefined }]) {
    column += gap;
    const label = padded(placed.title, placed.width, placed.side ?? 'left');
    const begins = column + label.length - label.trimStart().length;
    if (begins >= used + gap && placed.width > 0) {
      line = [...line, cell(' '.repeat(begins - used)), cell(label.trimStart(), 'dim')];
      used = column + placed.width;
    }
    column += placed.width;
  }
  return exactly(line, widths.all);
}
