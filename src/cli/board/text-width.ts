const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** What takes two cells of a terminal: East Asian writing in full width, and emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** How many cells of a terminal a harmless line takes. */
export function displayWidth(text: string): number {
  return cells(text).reduce((sum, { width }) => sum + width, 0);
}

/** The text in at most so many cells; what is cut off shows as `…`. */
export function cutTo(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let left = width - 1;
  const kept = cells(text).filter((cell) => {
    left -= cell.width;
    return left >= 0;
  });
  return width <= 0 ? '' : `${kept.map(({ grapheme }) => grapheme).join('')}…`;
}

/** The text in exactly so many cells. */
export function padTo(text: string, width: number): string {
  const cut = cutTo(text, width);
  return cut + ' '.repeat(Math.max(0, width - displayWidth(cut)));
}

/** The words in at most so many lines of so many cells; what does not fit is cut off. */
export function wrapTo(text: string, width: number, mostLines: number): string[] {
  const lines: string[] = [];
  let rest = text.split(' ').filter((word) => word !== '');
  while (rest.length > 0 && lines.length < mostLines - 1) {
    const fitting = rest.findIndex((_, index) => displayWidth(rest.slice(0, index + 1).join(' ')) > width);
    // A word that is longer than a line gets a line, and is cut.
    const taken = fitting === -1 ? rest.length : Math.max(1, fitting);
    lines.push(cutTo(rest.slice(0, taken).join(' '), width));
    rest = rest.slice(taken);
  }
  return rest.length === 0 ? lines : [...lines, cutTo(rest.join(' '), width)];
}

function cells(text: string): { grapheme: string; width: number }[] {
  return [...graphemes.segment(text)].map(({ segment }) => ({ grapheme: segment, width: wide.test(segment) ? 2 : 1 }));
}
