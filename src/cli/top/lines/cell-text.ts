import { harmlessLine } from '../../../core/text/harmless-line.ts';
import { cutTo, displayWidth, wrapTo } from '../../board/text-width.ts';

/** Of a longer text nobody sees the rest. */
const longestCell = 2_000;

/** A column is one or two units of text; a base with its marks is no longer than this. */
const longestCharacter = 8;

const plain = /^[ -~]*$/;
const selectors = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;
/** They belong to the character before them, and would go with a blank of ours. */
const marksOnNothing = /(^|\s)[\p{M}\p{Emoji_Modifier}\uff9e\uff9f\s]+/gu;
const tooManyMarks = /(\p{M}{3})\p{M}+/gu;

/**
 * Somebody's text as one line whose columns can be counted: no escapes, no control characters, nothing invisible; no
 * marks that stand on nothing or pile up over the lines above, and nothing that asks for another form of a character,
 * for terminals do not agree how wide that is.
 */
export function cellText(text: string): string {
  const line = harmlessLine(text.slice(0, longestCell));
  if (plain.test(line)) return line;
  return line
    .toWellFormed()
    .replaceAll(selectors, '')
    .replaceAll(marksOnNothing, '$1')
    .replaceAll(tooManyMarks, '$1')
    .trim();
}

/** The same for a reason that a program wrote: a line break that it wrote out is a space too. */
export function reasonText(text: string): string {
  return cellText(text.slice(0, longestCell).replaceAll(/\\[nr]/g, ' '));
}

export function isPlain(text: string): boolean {
  return plain.test(text);
}

/** How many columns of a terminal it takes: wide characters two, marks none. */
export function widthOf(text: string): number {
  return isPlain(text) ? text.length : displayWidth(text);
}

/** In at most so many columns; what is cut off shows as `…`. */
export function cut(text: string, width: number): string {
  if (width <= 0) return '';
  if (isPlain(text)) return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
  return cutTo(text.slice(0, (width + 1) * longestCharacter), width);
}

/** In exactly so many columns. */
export function padded(text: string, width: number, side: 'left' | 'right' = 'left'): string {
  const shown = cut(text, width);
  const blank = ' '.repeat(Math.max(0, width - widthOf(shown)));
  return side === 'left' ? shown + blank : blank + shown;
}

/** In lines of at most so many columns, and no more of them than `most`. A word that is longer goes on in the next line. */
export function wrapped(text: string, width: number, most: number): string[] {
  const columns = Math.max(1, width);
  const words = text
    .split(' ')
    .flatMap((word) => (isPlain(word) ? (word.match(new RegExp(`.{1,${columns}}`, 'g')) ?? []) : [word]));
  return wrapTo(words.join(' '), columns, most);
}
