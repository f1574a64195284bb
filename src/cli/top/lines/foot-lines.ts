import { inputCells } from '../input/input-line.ts';
import { pauseOrResume, projectOf } from '../input/pause-or-resume.ts';
import { type Message, type Prompt, rowOf, type TopState } from '../top-state.ts';
import { cellText, cut, widthOf, wrapped } from './cell-text.ts';
import { cell, exactly, type Line, leftAndRight, lineWidth } from './line.ts';
import type { TopRow } from './top-rows.ts';

/** An answer of the daemon is a sentence or two; a takeover tells a path and a command. */
const mostMessageLines = 8;

/** What is at the bottom: what is asked, or what was answered, or the keys that make sense now. */
export function footLines(state: TopState, columns: number): readonly Line[] {
  const { prompt, message } = state;
  const told = message === null ? [] : messageLines(message, columns);
  const asked = prompt === null ? [keysLine(state, columns)] : promptLines(prompt, columns);
  // An answer takes the place of the keys, but not of what the lists leave out.
  const filtered = state.filter === '' ? [] : [leftAndRight(keyCells(filterKeys(state)), placeOf(state), columns)];
  const rest = prompt === null && message !== null ? filtered : asked;
  return [...told, ...rest].map((line) => exactly(line, columns));
}

function messageLines({ text, tone }: Message, columns: number): readonly Line[] {
  const lines = wrapped(cellText(text), columns - 2, mostMessageLines);
  return lines.map((line) => [cell(' '), cell(line, tone)]);
}

function promptLines(prompt: Prompt, columns: number): readonly Line[] {
  switch (prompt.kind) {
    case 'confirm':
      return [
        choices(prompt.label, [
          ['y', 'yes'],
          ['n', 'no'],
        ]),
      ];
    case 'decision': {
      const { identifier, question } = prompt.answering;
      const asks = wrapped(`${identifier} asks: ${cellText(question.text)}`, columns - 2, 3);
      const keys = choices('', [
        ['y', 'yes'],
        ['a', 'always'],
        ['n', 'no'],
        ['Esc', 'later'],
      ]);
      return [...asks.map((line) => [cell(' '), cell(line, 'you')]), keys];
    }
    case 'filter':
      return [inputRow('Show only', prompt.input, columns)];
    case 'text':
      return [inputRow(textLabel(prompt), prompt.input, columns)];
    case 'field':
      return [...fieldLines(prompt, columns), inputRow('Answer', prompt.input, columns)];
  }
}

function choices(label: string, keys: readonly (readonly [string, string])[]): Line {
  const cells = keys.flatMap(([key, word]) => [cell('  '), cell(key, 'strong'), cell(` ${word}`)]);
  return label === '' ? cells.slice(0).with(0, cell(' ')) : [cell(' '), cell(cellText(label), 'warn'), ...cells];
}

function inputRow(label: string, input: Parameters<typeof inputCells>[0], columns: number): Line {
  const name = ` ${label}: `;
  return [cell(name, 'strong'), ...inputCells(input, Math.max(2, columns - widthOf(name) - 1))];
}

function textLabel({ what, identifier }: Extract<Prompt, { kind: 'text' }>): string {
  if (what === 'steer') return `Say to the agent of ${identifier}`;
  return what === 'retry' ? `Retry ${identifier} with the note` : `Hand ${identifier} back, with a note or none`;
}

function fieldLines({ answering }: Extract<Prompt, { kind: 'field' }>, columns: number): readonly Line[] {
  const { question, identifier, values } = answering;
  const field = question.fields[Object.keys(values).length];
  const label = cellText(field?.label ?? '') || cellText(field?.name ?? '');
  const options = (field?.options ?? []).map((option, at) => `${at + 1} ${cellText(option)}`);
  const other = field?.allows_other && options.length > 0 ? ['or any other text'] : [];
  const lines = [
    ...wrapped(`${identifier} asks: ${cellText(question.text)}`, columns - 2, 3),
    ...wrapped(`${label}: ${[...options, ...other].join(' · ')}`, columns - 2, 4),
  ];
  return lines.map((line) => [cell(' '), cell(line, 'you')]);
}

type KeyWord = readonly [key: string, word: string];

/** As many as fit; how to get help and how to leave is always among them. */
function keysLine(state: TopState, columns: number): Line {
  const last: readonly KeyWord[] = [
    ['?', 'help'],
    ['q', 'quit'],
  ];
  let shown = state.screen === 'help' ? [back] : keysOf(state);
  const place = placeOf(state);
  const line = (): Line => leftAndRight(keyCells([...shown, ...last]), place, columns);
  while (shown.length > 0 && lineWidth(line()) > columns) shown = shown.slice(0, -1);
  return line();
}

const back: KeyWord = ['Esc', 'back'];

function keysOf(state: TopState): readonly KeyWord[] {
  const row = rowOf(state);
  const now = projectOf(state);
  return [
    ...(state.screen === 'details' ? [back] : row === null ? [] : [['↵', 'details'] as const]),
    ...(state.filter === '' ? [] : filterKeys(state)),
    ...(row === null ? [] : rowKeys(row)),
    ...(now === null ? [] : [['p', pauseOrResume(now)] as const]),
    ...(state.filter === '' ? [['/', 'filter'] as const] : []),
  ];
}

function filterKeys({ filter, screen }: TopState): readonly KeyWord[] {
  const all: readonly KeyWord[] = screen === 'list' ? [['Esc', 'show all']] : [];
  return [['/', `filter: ${cut(cellText(filter), 20)}`], ...all];
}

/** Which of how many rows is selected. */
function placeOf(state: TopState): Line {
  const row = rowOf(state);
  if (row === null || state.screen !== 'list') return [];
  return [cell(`${state.rows.indexOf(row) + 1} of ${state.rows.length} `, 'dim')];
}

function rowKeys(row: TopRow): readonly KeyWord[] {
  const answer: readonly KeyWord[] = [['a', 'answer']];
  if (row.list === 'running')
    return [...(row.of.waits_for_person ? answer : []), ['t', 'steer'], ['s', 'stop'], ['o', 'take over']];
  if (row.list === 'needs_you' && row.of.question_id !== null) return [...answer, ['o', 'take over']];
  if (row.list === 'landed' || row.issueId === null) return [];
  return [['r', 'retry'], ['R', 'with a note'], ...(row.list === 'needs_you' ? [['h', 'hand back'] as const] : [])];
}

function keyCells(keys: readonly KeyWord[]): Line {
  return keys.flatMap(([key, word], at) => [cell(at === 0 ? ' ' : '  '), cell(key, 'strong'), cell(` ${word}`, 'dim')]);
}
