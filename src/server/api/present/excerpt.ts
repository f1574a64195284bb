/** Characters on each side of the match. */
const around = 80;

/** Returns the words around a match, on one line; null when the text does not occur. */
export function excerptOf(whole: string, text: string): string | null {
  // When lower case changes the length of the text, positions would shift: then the excerpt starts at the beginning.
  const lower = whole.toLowerCase();
  const found = lower.indexOf(text.toLowerCase());
  if (found === -1) return null;
  const at = lower.length === whole.length ? found : 0;
  const [from, to] = [Math.max(0, at - around), at + text.length + around];
  const cut = whole.slice(from, to).toWellFormed().replaceAll(/\s+/g, ' ').trim();
  return `${from > 0 ? '…' : ''}${cut}${to < whole.length ? '…' : ''}`;
}
