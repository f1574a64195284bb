import { cellText, cut, graphemesOf, widthOf } from '../../cell-text.ts';
import { cell, type Line } from '../lines/line.ts';
import type { Key } from './decode-keys.ts';

/** A text that is being typed, split at the cursor. */
export interface InputLine {
  readonly before: string;
  readonly after: string;
}

export const emptyInput: InputLine = { before: '', after: '' };

/** The longest text that a command takes. */
const longestInput = 100_000;

export function inputText({ before, after }: InputLine): string {
  return before + after;
}

/** Applies a key to the text; returns the same text when the key does not change it. */
export function editInput(input: InputLine, key: Key): InputLine {
  const { before, after } = input;
  switch (key.name) {
    case 'text':
    case 'paste':
      return { before: (before + key.text.replaceAll(/\s+/g, ' ')).slice(0, longestInput - after.length), after };
    case 'backspace':
      return { before: withoutLast(before), after };
    case 'delete':
      return { before, after: after.slice(firstOf(after).length) };
    case 'left':
      return { before: withoutLast(before), after: before.slice(withoutLast(before).length) + after };
    case 'right':
      return { before: before + firstOf(after), after: after.slice(firstOf(after).length) };
    case 'home':
      return { before: '', after: before + after };
    case 'end':
      return { before: before + after, after: '' };
    case 'clear':
      return { before: '', after };
    case 'word':
      return { before: before.replace(/\S*\s*$/, ''), after };
    default:
      return input;
  }
}

/** The text with its cursor, in at most this many columns; the part around the cursor is always visible. */
export function inputCells({ before, after }: InputLine, columns: number): Line {
  // A trailing blank was just typed, so it stays visible.
  const typed = cellText(before) + (/\s$/.test(before) && before.trim() !== '' ? ' ' : '');
  const under = cellText(firstOf(after)) || ' ';
  const behind = after.slice(firstOf(after).length);
  const rest = (/^\s/.test(behind) ? ' ' : '') + cellText(behind);
  const space = Math.max(0, columns - widthOf(under));
  const shown = endOf(typed, space);
  return [cell(shown), cell(under, 'selected'), cell(cut(rest, space - widthOf(shown)))].filter(
    ({ text }) => text !== '',
  );
}

/** The end of a text that fits; a cut shows as `…`. */
function endOf(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let shown = '';
  for (const character of graphemesOf(text.slice(-8 * (columns + 1))).toReversed()) {
    if (widthOf(character) + widthOf(shown) + 1 > columns) break;
    shown = character + shown;
  }
  return columns <= 0 ? '' : `…${shown}`;
}

function firstOf(text: string): string {
  return graphemesOf(text.slice(0, 100))[0] ?? '';
}

function withoutLast(text: string): string {
  return text.slice(0, text.length - (graphemesOf(text.slice(-100)).at(-1)?.length ?? 0));
}
