/**
 * The required sections that an artifact lacks. A section is a heading of any level, as Markdown writes it with `#`, with text
 * below it: its own, or that of a heading below it. Names are compared without regard to case, numbers and emphasis.
 */
export function missingSections(markdown: string, required: readonly string[]): readonly string[] {
  if (required.length === 0) return [];
  const filled = new Set<string>();
  const above: Heading[] = [];
  for (const { line, heading } of linesOf(markdown)) {
    if (heading === null) {
      if (line.trim() !== '') for (const { key } of above) filled.add(key);
      continue;
    }
    while ((above.at(-1)?.level ?? 0) >= heading.level) above.pop();
    above.push(heading);
  }
  return required.filter((name) => !filled.has(keyOf(name)));
}

interface Heading {
  readonly level: number;
  readonly key: string;
}

/** The lines; inside a code block there are no headings. */
function* linesOf(markdown: string): Generator<{ readonly line: string; readonly heading: Heading | null }> {
  let block: string | null = null;
  for (const line of markdown.split(/\r?\n/)) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    const isInBlock: boolean = block !== null;
    if (mark !== undefined && block === null) block = mark;
    else if (mark !== undefined && block !== null && mark.startsWith(block)) block = null;
    yield { line, heading: isInBlock || mark !== undefined ? null : headingOf(line) };
  }
}

function headingOf(line: string): Heading | null {
  const found = /^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$/.exec(line);
  return found === null ? null : { level: found[1]?.length ?? 1, key: keyOf(found[2] ?? '') };
}

/** `## 2. Open questions:` is the section "open questions". */
function keyOf(name: string): string {
  const words = name.replace(/^[\d.)\s]+/, '').replace(/[*_`:]+/g, '');
  return words.replace(/\s+/g, ' ').trim().toLowerCase();
}
