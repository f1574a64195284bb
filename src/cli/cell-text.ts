import { harmlessLine, harmlessLines } from '../core/text/harmless-line.ts';

/** The most characters of a text that a cell shows. */
const longestCell = 2_000;

/** The most code units of one character on the screen: a base character with its combining marks. */
const longestCharacter = 8;

let segmenter: Intl.Segmenter | undefined;

/** Characters that take two columns of a terminal: full-width East Asian characters, and emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

const plain = /^[ -~]*$/;
const selectors = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;
/** Combining marks without a base character: they would attach to a space that Baton prints. */
const marksOnNothing = /(?<=^|\s)[\p{M}\p{Emoji_Modifier}\uff9e\uff9f]+/gu;
const tooManyMarks = /(\p{M}{3})\p{M}+/gu;

/**
 * The text as one line whose columns can be counted: no escapes, no control characters, nothing invisible; no marks
 * without a base or piled up over the lines above, and no variation selectors, because terminals disagree on their
 * width.
 */
export function cellText(text: string): string {
  const line = harmlessLine(text.slice(0, longestCell));
  return isPlain(line) ? line : drawable(line).replaceAll(/\s+/gu, ' ').trim();
}

/** Every line of a text that a person approves, with its blanks, in lines of at most this many columns. */
export function wholeLines(text: string, width: number): string[] {
  return harmlessLines(text)
    .split('\n')
    .map(drawable)
    .flatMap((line) => pieces(line, Math.max(2, width)));
}

function drawable(line: string): string {
  return line.replaceAll(selectors, '').replaceAll(marksOnNothing, '').replaceAll(tooManyMarks, '$1');
}

function pieces(line: string, width: number): string[] {
  const found = [''];
  let left = width;
  for (const grapheme of graphemesOf(line)) {
    left -= graphemeWidth(grapheme);
    if (left < 0) {
      found.push('');
      left = width - graphemeWidth(grapheme);
    }
    found.push(`${found.pop()}${grapheme}`);
  }
  return found;
}

/** The same for a reason that a program wrote: a written-out line break becomes a space too. */
export function reasonText(text: string): string {
  return cellText(text.slice(0, longestCell).replaceAll(/\\[nr]/g, ' '));
}

/** Visible ASCII only: each character takes one column everywhere. */
export function isPlain(text: string): boolean {
  return plain.test(text);
}

/** The characters as a reader counts them. */
export function graphemesOf(text: string): string[] {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** The number of terminal columns: wide characters take two, marks none. */
export function widthOf(text: string): number {
  return isPlain(text) ? text.length : graphemesOf(text).reduce((sum, each) => sum + graphemeWidth(each), 0);
}

/** The text in at most this many columns; a cut shows as `…`. */
export function cut(text: string, width: number): string {
  if (width <= 0) return '';
  if (isPlain(text)) return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
  const seen = text.slice(0, (width + 1) * longestCharacter);
  if (widthOf(seen) <= width) return seen;
  let left = width - 1;
  const kept = graphemesOf(seen).filter((grapheme) => {
    left -= graphemeWidth(grapheme);
    return left >= 0;
  });
  return `${kept.join('')}…`;
}

/** The text in exactly this many columns. */
export function padded(text: string, width: number, side: 'left' | 'right' = 'left'): string {
  const shown = cut(text, width);
  const blank = ' '.repeat(Math.max(0, width - widthOf(shown)));
  return side === 'left' ? shown + blank : blank + shown;
}

/** The text in at most `most` lines of at most this many columns. A longer ASCII word continues on the next line. */
export function wrapped(text: string, width: number, most: number): string[] {
  const columns = Math.max(1, width);
  let rest = text
    .split(' ')
    .flatMap((word) => (isPlain(word) ? (word.match(new RegExp(`.{1,${columns}}`, 'g')) ?? []) : [word]));
  const lines: string[] = [];
  while (rest.length > 0 && lines.length < most - 1) {
    const fitting = rest.findIndex((_, index) => widthOf(rest.slice(0, index + 1).join(' ')) > columns);
    const taken = fitting === -1 ? rest.length : Math.max(1, fitting);
    lines.push(cut(rest.slice(0, taken).join(' '), columns));
    rest = rest.slice(taken);
  }
  return rest.length === 0 ? lines : [...lines, cut(rest.join(' '), columns)];
}

function graphemeWidth(grapheme: string): number {
  return wide.test(grapheme) ? 2 : 1;
}
