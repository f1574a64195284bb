/** Characters on each side of what was found. */
const around = 80;

/** The words around a text in another, on one line; null where it is not in it. */
export function excerptOf(whole: string, text: string): string | null {
  // Where lower case has another length than upper case, places would be shifted: such a text is shown from its beginning.
  const lower = whole.toLowerCase();
  const found = lower.indexOf(text.toLowerCase());
  if (found === -1) return null;
  const at = lower.length === whole.length ? found : 0;
  const [from, to] = [Math.max(0, at - around), at + text.length + around];
  const cut = whole.slice(from, to).toWellFormed().replaceAll(/\s+/g, ' ').trim();
  return `${from > 0 ? '…' : ''}${cut}${to < whole.length ? '…' : ''}`;
}
