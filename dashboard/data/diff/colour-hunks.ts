import { harmlessText } from '../../../src/core/text/harmless-line.ts';
import type { DiffHunk, DiffLine } from './diff-lines.ts';
import type { highlightLines, Piece } from './highlight.ts';
import type { Language } from './language-of.ts';

/** What is larger has no colours: a grammar can be slow on generated code, and no one reads that. */
const mostCharacters = 200_000;
const longestLine = 2_000;

/** Whether the diff of a file is small enough for colours. */
export function canColour(hunks: readonly DiffHunk[]): boolean {
  let characters = 0;
  for (const { lines } of hunks) {
    for (const { text } of lines) {
      characters += text.length;
      if (text.length > longestLine || characters > mostCharacters) return false;
    }
  }
  return true;
}

/**
 * The parts of each line of a hunk, by its index. A hunk is two pieces of code: before the change and after it. Both are
 * made harmless first, so that no part begins inside a character that has to be named.
 */
export function colourHunk(
  { lines }: DiffHunk,
  language: Language,
  highlight: typeof highlightLines,
): readonly (readonly Piece[])[] {
  const coloured: (readonly Piece[])[] = lines.map(({ text }) => [{ kind: null, text: harmlessText(text) }]);
  for (const side of [isBefore, isAfter]) {
    const at = lines.flatMap((line, index) => (side(line) ? [index] : []));
    const code = at.map((index) => harmlessText(lines[index]?.text ?? ''));
    for (const [place, pieces] of highlight(language, code).entries()) coloured[at[place] ?? -1] = pieces;
  }
  return coloured;
}

const isBefore = ({ kind }: DiffLine): boolean => kind === 'same' || kind === 'removed';
const isAfter = ({ kind }: DiffLine): boolean => kind === 'same' || kind === 'added';
