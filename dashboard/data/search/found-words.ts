/** A piece of a text, and whether it matches the search. */
export interface Piece {
  readonly text: string;
  readonly isFound: boolean;
}

/**
 * Cuts a text at the start and end of each match. It matches like the daemon: the whole query, in any case; any blanks
 * match any others, because an excerpt is on one line. Joined again, the pieces are the text.
 */
export function markFound(text: string, query: string): readonly Piece[] {
  const words = query.split(/\s+/u).filter(Boolean);
  if (words.length === 0) return text === '' ? [] : [{ text, isFound: false }];
  const pattern = new RegExp(words.map(literal).join('\\s+'), 'giu');
  const pieces: Piece[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(pattern)) {
    if (index > end) pieces.push({ text: text.slice(end, index), isFound: false });
    pieces.push({ text: found, isFound: true });
    end = index + found.length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), isFound: false });
  return pieces;
}

function literal(word: string): string {
  return word.replace(/[\\^$.*+?()[\]{}|/]/gu, '\\$&');
}
