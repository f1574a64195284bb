/** No message that Baton reads has more levels, or more objects and lists, than a small part of these. */
export const mostJsonDepth = 200;
export const mostJsonContainers = 1_000_000;

/**
 * Reads JSON from outside: agents, trackers, callers of the API. `JSON.parse` needs fifty times the memory of a text
 * that is mostly brackets, and seconds for it, so the brackets are counted first. Throws a SyntaxError for anything that
 * is not JSON within these bounds.
 */
export function parseJson(text: string): unknown {
  if (text.length > mostJsonDepth) checkBrackets(text);
  return JSON.parse(text);
}

const [quote, backslash] = [0x22, 0x5c];

function checkBrackets(text: string): void {
  let depth = 0;
  let containers = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    // Both brackets and braces: they differ from each other in one bit.
    else if ((code | 0x20) === 0x7b) {
      depth += 1;
      containers += 1;
      if (depth > mostJsonDepth || containers > mostJsonContainers)
        throw new SyntaxError(
          `The JSON has more than ${mostJsonDepth} levels or ${mostJsonContainers} values in them.`,
        );
    } else if ((code | 0x20) === 0x7d) depth -= 1;
  }
}

/** The index of the quote that ends the string, which begins at `start`; the end of the text if there is none. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === backslash) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}
