import { padded, wrapped } from './cell-text.ts';
import { cell, exactly, type Line } from './line.ts';

const keys: readonly (readonly [key: string, what: string])[] = [
  ['?', 'this page; Esc goes back'],
  ['q', 'leave this view'],
  ['↑ ↓  j k', 'go up and down; PgUp, PgDn, g and G go further'],
  ['Tab', 'go to the next list'],
  ['Enter', 'why an issue is there, what it asks, its last messages'],
  ['a', 'answer the question of an issue'],
  ['t', 'say something to the agent in the middle of its run'],
  ['r  R', 'retry now; with a note to the agent'],
  ['s', 'stop the run of an issue, and hold the issue'],
  ['o', 'take an issue over and go on by hand'],
  ['h', 'hand it back to an agent'],
  ['p', 'pause: start nothing new; resume'],
  ['d', 'drain: start nothing new, and end with the last run'],
  ['/', 'show only what says a word; Esc shows all again'],
];

const keyColumns = 10;
const mostLines = 4;

/** Every key, for those who ask. */
export function helpLines(columns: number): readonly Line[] {
  const lines = keys.flatMap(([key, what]) =>
    wrapped(what, columns - keyColumns - 3, mostLines).map((words, at) => [
      cell('  '),
      cell(padded(at === 0 ? key : '', keyColumns), 'strong'),
      cell(words),
    ]),
  );
  return [[cell(' Keys', 'strong')], [], ...lines].map((line) => exactly(line, columns));
}
