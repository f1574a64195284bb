import { cellText, cut, widthOf, wrapped } from '../../cell-text.ts';
import { inputCells } from '../input/input-line.ts';
import { bindings } from '../input/press-key.ts';
import { type Prompt, rowOf, type TopState } from '../top-state.ts';
import { cell, exactly, type Line, leftAndRight, lineWidth, type Tone } from './line.ts';

/** An answer of the daemon is a sentence or two; that of a takeover has a path and a command. */
const mostMessageLines = 8;

type KeyWord = readonly [key: string, word: string];

/** The bottom of the screen: the prompt, or the last answer, or the keys that are useful now. */
export function footLines(state: TopState, columns: number): readonly Line[] {
  const { prompt, message } = state;
  const lines: Line[] = message === null ? [] : wordLines(message.text, message.tone, columns, mostMessageLines);
  if (prompt !== null) lines.push(...promptLines(prompt, columns));
  else if (message === null) lines.push(keysLine(state, columns));
  // An answer replaces the keys, but not the filter.
  else if (state.filter !== '') lines.push(leftAndRight(keyCells(filterKeys(state)), placeOf(state), columns));
  return lines.map((line) => exactly(line, columns));
}

function wordLines(text: string, tone: Tone, columns: number, most: number): Line[] {
  return wrapped(cellText(text), columns - 2, most).map((line) => [cell(' '), cell(line, tone)]);
}

function promptLines(prompt: Prompt, columns: number): readonly Line[] {
  const inputLine = (label: string, input: Parameters<typeof inputCells>[0]): Line => {
    const name = ` ${label}: `;
    return [cell(name, 'strong'), ...inputCells(input, Math.max(2, columns - widthOf(name) - 1))];
  };
  switch (prompt.kind) {
    case 'confirm':
      return [[cell(' '), cell(cellText(prompt.label), 'warn'), cell(' '), ...keyCells([yes, no], 'plain')]];
    case 'decision':
      return [...asked(prompt, columns), keyCells([yes, ['a', 'always'], no, ['Esc', 'later']], 'plain')];
    case 'filter':
      return [inputLine('Show only', prompt.input)];
    case 'text':
      return [inputLine(prompt.label, prompt.input)];
    case 'field': {
      const { question, values } = prompt.answering;
      const field = question.fields[Object.keys(values).length];
      const label = cellText(field?.label ?? '') || cellText(field?.name ?? '');
      const options = (field?.options ?? []).map((option, at) => `${at + 1} ${option}`);
      const other = field?.allows_other && options.length > 0 ? ['or any other text'] : [];
      return [
        ...asked(prompt, columns),
        ...wordLines(`${label}: ${[...options, ...other].join(' · ')}`, 'you', columns, 4),
        inputLine('Answer', prompt.input),
      ];
    }
  }
}

const yes: KeyWord = ['y', 'yes'];
const no: KeyWord = ['n', 'no'];
const back: KeyWord = ['Esc', 'back'];

function asked({ answering }: Extract<Prompt, { kind: 'decision' | 'field' }>, columns: number): Line[] {
  return wordLines(`${answering.identifier} asks: ${answering.question.text}`, 'you', columns, 3);
}

/** As many keys as fit; help and leaving are always among them. */
function keysLine(state: TopState, columns: number): Line {
  let shown = state.screen === 'help' ? [back] : keysOf(state);
  const line = (): Line => leftAndRight(keyCells([...shown, ['?', 'help'], ['q', 'quit']]), placeOf(state), columns);
  while (shown.length > 0 && lineWidth(line()) > columns) shown = shown.slice(0, -1);
  return line();
}

function keysOf(state: TopState): readonly KeyWord[] {
  const details: readonly KeyWord[] = rowOf(state) === null ? [] : [['↵', 'details']];
  return [
    ...(state.screen === 'details' ? [back] : details),
    ...(state.filter === '' ? [] : filterKeys(state)),
    ...bindings.flatMap(({ keys: [key], foot }): KeyWord[] => {
      const word = foot?.(state) ?? null;
      return word === null ? [] : [[key, word]];
    }),
  ];
}

function filterKeys({ filter, screen }: TopState): readonly KeyWord[] {
  const all: readonly KeyWord[] = screen === 'list' ? [['Esc', 'show all']] : [];
  return [['/', `filter: ${cut(cellText(filter), 20)}`], ...all];
}

/** The number of the selected row, and of all rows. */
function placeOf(state: TopState): Line {
  const row = rowOf(state);
  if (row === null || state.screen !== 'list') return [];
  return [cell(`${state.rows.indexOf(row) + 1} of ${state.rows.length} `, 'dim')];
}

function keyCells(keys: readonly KeyWord[], tone: Tone = 'dim'): Line {
  return keys.flatMap(([key, word], at) => [cell(at === 0 ? ' ' : '  '), cell(key, 'strong'), cell(` ${word}`, tone)]);
}
