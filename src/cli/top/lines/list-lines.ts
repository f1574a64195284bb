import type { NeedsYou, RunningRow, WaitingRow } from '../../../client/schema/now.ts';
import { phaseWords } from '../../../core/pipeline/phase-standing.ts';
import { cellText, cut, reasonText, widthOf } from '../../cell-text.ts';
import type { TopState } from '../top-state.ts';
import { type Cell, cell, exactly, type Line } from './line.ts';
import { ageOf, countdown, needsYouText, stageText, tokensText } from './short-text.ts';
import { type ShownList, shownLists, type TopRow } from './top-rows.ts';

/** One line of the list, drawn only when it is visible. */
export interface ListLine {
  /** Null for a title and for a line between two lists. */
  readonly row: TopRow | null;
  draw(at: number, isSelected: boolean): Line;
}

/** The title of each list, its text when it is empty, and the titles of its columns. */
const lists = {
  needs_you: { title: 'Needs you', empty: 'nothing waits for you', what: 'WHAT', time: 'SINCE / LEFT', text: 'WHY' },
  running: { title: 'Running', empty: 'no agent is running', what: 'STAGE', time: 'AGE / TURN', text: 'LAST MESSAGE' },
  waiting: { title: 'Waiting', empty: 'nothing waits', what: 'WHAT', time: 'NEXT TRY', text: 'WHY' },
  finished: { title: 'Finished today', empty: 'nothing yet', what: 'STATE', time: 'AGO', text: 'TITLE' },
} as const satisfies Readonly<Record<ShownList, unknown>>;

/** The four lists one below the other, each with its title; with a filter, each says how many rows it hides. */
export function listLines(
  { rows, nows, filter }: Pick<TopState, 'rows' | 'nows' | 'filter'>,
  columns: number,
): readonly ListLine[] {
  const widths = columnWidths(rows, nows.length > 1, columns);
  const byList = Map.groupBy(rows, ({ list }) => list);
  const blank: ListLine = { row: null, draw: () => exactly([], columns) };
  return shownLists.flatMap((list, at): ListLine[] => {
    const shown = byList.get(list) ?? [];
    const all = nows.reduce((sum, now) => sum + now[list].length, 0);
    const hidden = filter === '' || all === 0 ? null : all;
    return [
      ...(at === 0 ? [] : [blank]),
      { row: null, draw: () => titleLine(list, shown.length, hidden, widths) },
      ...shown.map((row) => ({ row, draw: (now: number, sel: boolean) => rowLine(row, widths, now, sel) })),
    ];
  });
}

/** The width of each column; 0 when there is no space for it. The text gets the rest. */
interface Widths {
  readonly all: number;
  readonly id: number;
  readonly project: number;
  readonly what: number;
  readonly time: number;
  readonly tokens: number;
  readonly title: number;
}

/** The mark of a row with a blank on both sides. */
const markColumns = 3;
const gap = 2;
/** A narrower text cannot be understood; another column is dropped for it. */
const leastText = 12;
const givenUpFirst = ['title', 'tokens', 'what', 'project', 'time'] as const;
const wideColumns = 120;

/** Widths that stay the same from frame to frame: only identifiers and projects are measured. */
function columnWidths(rows: readonly TopRow[], hasProjects: boolean, columns: number): Widths {
  const isWide = columns >= wideColumns;
  const longest = (texts: Iterable<string>, least: number, most: number): number => {
    let found = least;
    for (const text of texts) found = Math.max(found, widthOf(text));
    return Math.min(most, found);
  };
  const identifiers = rows.map(({ identifier }) => identifier);
  const projects = new Set(rows.map(({ project }) => project));
  const wanted = {
    all: columns,
    id: longest(identifiers, 8, isWide ? 20 : 12),
    project: hasProjects ? longest([...projects].map(cellText), 7, 16) : 0,
    what: isWide ? 23 : 14,
    time: 12,
    tokens: 10,
    title: isWide ? Math.floor(columns / 5) : 0,
  };
  for (const column of givenUpFirst) {
    if ((columnsOf('running', wanted).at(-1)?.width ?? 0) >= leastText) break;
    wanted[column] = 0;
  }
  return wanted;
}

type ColumnName = 'project' | 'what' | 'time' | 'tokens' | 'title' | 'text';

/** The position of a piece in a line. */
interface Place {
  readonly at: number;
  readonly width: number;
  readonly side?: 'right';
}

interface Column extends Place {
  readonly name: ColumnName;
  readonly title: string;
}

/** The columns of a list after mark and identifier, without those that do not fit. */
function columnsOf(list: ShownList, widths: Widths): readonly Column[] {
  const { what, time, text } = lists[list];
  const isRunning = list === 'running';
  const wanted: readonly Omit<Column, 'at'>[] = [
    { name: 'project', width: widths.project, title: 'PROJECT' },
    { name: 'what', width: widths.what, title: what },
    { name: 'time', width: widths.time, title: time },
    // When issue titles fit, every list reserves this column, so that titles are aligned across all lists.
    {
      name: 'tokens',
      width: isRunning || widths.title > 0 ? widths.tokens : 0,
      title: isRunning ? 'TOKENS' : '',
      side: 'right',
    },
    { name: 'title', width: list === 'finished' ? 0 : widths.title, title: 'TITLE' },
  ];
  let next = markColumns + widths.id + gap;
  const placed = wanted
    .filter(({ width }) => width > 0)
    .map((column) => {
      const at = next;
      next += column.width + gap;
      return { ...column, at };
    });
  return [...placed, { name: 'text', at: next, width: widths.all - next, title: text }];
}

/** Puts each piece at its position, in exactly this many columns. A piece whose position is taken is left out. */
function laidOut(pieces: readonly (Place & { readonly cell: Cell })[], columns: number): Line {
  const line: Cell[] = [];
  let used = 0;
  for (const { at, width, side, cell: piece } of pieces) {
    const text = cut(piece.text, width);
    const begins = side === 'right' ? at + width - widthOf(text) : at;
    if (text === '' || begins < used) continue;
    if (begins > used) line.push(cell(' '.repeat(begins - used)));
    line.push({ ...piece, text });
    used = begins + widthOf(text);
  }
  return exactly(line, columns);
}

function rowLine(row: TopRow, widths: Widths, at: number, isSelected: boolean): Line {
  const cells = rowCells(row, at);
  const line = laidOut(
    [
      { at: 0, width: 1, cell: cell(isSelected ? '▸' : ' ') },
      { at: 1, width: 1, cell: cells.mark },
      {
        at: markColumns,
        width: widths.id,
        cell: cell(row.identifier, row.list === 'needs_you' ? 'strong' : 'plain'),
      },
      ...columnsOf(row.list, widths).map((column) => ({ ...column, cell: cells[column.name] })),
    ],
    widths.all,
  );
  return isSelected ? line.map(({ text }) => cell(text, 'selected')) : line;
}

/** The name of the list with its count, and the title above each column that the name leaves space for. */
function titleLine(list: ShownList, shown: number, ofAll: number | null, widths: Widths): Line {
  const { title, empty } = lists[list];
  const tone = list === 'needs_you' ? 'you' : 'strong';
  const name = ofAll === null ? `${title} ${shown}` : `${title} ${shown} of ${ofAll}`;
  if (shown === 0) {
    const why = ofAll === null ? `  ${empty}` : ' with this filter';
    return exactly([cell(' '), cell(name, 'dim'), cell(why, 'dim')], widths.all);
  }
  const head = { at: 1, width: widths.all, cell: cell(name + ' '.repeat(gap), tone) };
  const titles = columnsOf(list, widths).map((column) => ({ ...column, cell: cell(column.title, 'dim') }));
  return laidOut([head, ...titles], widths.all);
}

type RowCells = Readonly<Record<ColumnName | 'mark', Cell>>;

function rowCells(row: TopRow, at: number): RowCells {
  const cells = cellsOf(row, at);
  const { phase } = row.of;
  return phase === undefined
    ? cells
    : { ...cells, text: { ...cells.text, text: `${cellText(phaseWords(phase))} · ${cells.text.text}` } };
}

function cellsOf(row: TopRow, at: number): RowCells {
  const title = cell(cellText(row.of.title ?? ''), 'dim');
  const usual = { project: cell(cellText(row.project), 'dim'), title, tokens: cell('') };
  switch (row.list) {
    case 'needs_you':
      return { ...usual, ...needsYouCells(row.of, at) };
    case 'running':
      return { ...usual, ...runningCells(row.of, at) };
    case 'waiting':
      return { ...usual, ...waitingCells(row.of, at) };
    case 'finished': {
      const what = cell(cellText(row.of.state), 'good');
      return { ...usual, mark: cell('✓', 'good'), what, time: cell(ageOf(row.of.at, at) ?? ''), text: title };
    }
  }
}

type OwnCells = Pick<RowCells, 'mark' | 'what' | 'time' | 'text'>;

function needsYouCells(row: NeedsYou, at: number): OwnCells {
  const { kind, since, waits_until: until } = row;
  const left = until === null ? 0 : Date.parse(until) - at;
  const time = cell(left > 0 ? `${countdown(left)} left` : (ageOf(since, at) ?? ''));
  const mark = cell(kind === 'question' ? '?' : '!', 'you');
  return { mark, what: cell(kind, 'you'), time, text: cell(needsYouText(row)) };
}

function runningCells(run: RunningRow, at: number): OwnCells & Pick<RowCells, 'tokens'> {
  const warning = run.warnings.find(({ level }) => level === 'reached') ?? run.warnings[0];
  const said = cellText(run.last_message ?? '') || cellText(run.last_event ?? '') || 'no event yet';
  const tone = warning?.level === 'reached' ? 'bad' : 'warn';
  return {
    mark: run.waits_for_person ? cell('?', 'you') : cell('●', 'work'),
    what: cell(stageText(run.stage), run.waits_for_person ? 'you' : 'work'),
    time: cell(`${ageOf(run.started_at, at) ?? '–'} / ${run.turn}`),
    tokens: cell(tokensText(run.usage.total_tokens)),
    text: warning === undefined ? cell(said) : cell(`${cellText(warning.text)} · ${said}`, tone),
  };
}

function waitingCells({ kind, code, attempt, reason, next_check_at: next }: WaitingRow, at: number): OwnCells {
  // An issue in the queue waits for something, not for a time; the next poll only checks it again.
  const left =
    next === null || (kind === 'queue' && code !== 'day_limit' && code !== 'role_budget')
      ? null
      : Date.parse(next) - at;
  const what = kind === 'retry' && attempt !== null ? `retry ${attempt}` : kind;
  return {
    mark: kind === 'queue' ? cell('·', 'dim') : cell('↻', 'warn'),
    what: cell(what, kind === 'queue' ? 'dim' : 'warn'),
    time: cell(left === null ? '' : left > 0 ? `in ${countdown(left)}` : 'due'),
    text: cell(reasonText(reason)),
  };
}
