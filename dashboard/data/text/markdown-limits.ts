/**
 * Whether a text is too much to be read as Markdown. The time grows with the square of the marks in it, and of the
 * depth of its lists, so a malicious text would stop the page for a minute. Such a text is shown as plain text.
 */
export function isTooMuchMarkdown(source: string): boolean {
  if (source.length > mostChars || deep.test(source)) return true;
  let count = 0;
  for (const _mark of source.matchAll(marks)) {
    count += 1;
    if (count > mostMarks) return true;
  }
  return false;
}

const mostChars = 50_000;
const mostMarks = 3_000;
/** Characters that may begin a construct, and every line end. */
const marks = /[*_~[\]`<>|&\\!:@\n]/gu;
/** Lists and quotes in each other, on one line. */
const deep = /^(?:[ \t]*(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))){12}/mu;
