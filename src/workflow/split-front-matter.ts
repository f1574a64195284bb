/** The two parts of a workflow file. `frontMatter` is null when the file has none. */
export interface SplitText {
  readonly frontMatter: string | null;
  /** Everything after the closing line, byte for byte. */
  readonly body: string;
  /** Line of the file on which the body starts, counted from 1, so that messages can point at it. */
  readonly bodyLine: number;
}

const byteOrderMark = '\uFEFF';

/**
 * Front matter starts only if the first line is exactly `---`, and ends at the next line that is exactly `---`; both
 * may end in LF or CRLF. Without the second line the whole rest is front matter and the body is empty, as in the
 * reference. Any later `---` belongs to the body.
 */
export function splitFrontMatter(text: string): SplitText {
  const content = text.startsWith(byteOrderMark) ? text.slice(byteOrderMark.length) : text;
  const opening = /^---(?:\r?\n|$)/.exec(content);
  if (opening === null) return { frontMatter: null, body: content, bodyLine: 1 };

  const afterOpening = content.slice(opening[0].length);
  const closing = /(^|\n)---(?:\r?\n|$)/.exec(afterOpening);
  if (closing === null) return { frontMatter: afterOpening, body: '', bodyLine: countLines(content) };

  const frontMatter = afterOpening.slice(0, closing.index + (closing[1]?.length ?? 0));
  const body = afterOpening.slice(closing.index + closing[0].length);
  return { frontMatter, body, bodyLine: countLines(frontMatter) + 2 };
}

function countLines(text: string): number {
  return text.split('\n').length;
}
