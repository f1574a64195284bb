/** One line of a unified diff, with its numbers in the old and the new file. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed' | 'note';
  readonly before: number | null;
  readonly after: number | null;
  readonly text: string;
}

export interface DiffHunk {
  /** Git's description of the place, such as the function it is in; may be empty. */
  readonly place: string;
  readonly lines: readonly DiffLine[];
}

const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/u;

/** A hunk while it is read: the next numbers, and how many lines of each file it still has. */
interface Reading {
  readonly place: string;
  readonly lines: DiffLine[];
  before: number;
  after: number;
  beforeLeft: number;
  afterLeft: number;
}

/**
 * Reads the unified diff of one file. The lines before the first hunk name the file, which the caller knows. The head
 * of a hunk says how many lines it has, because a line of a file may itself look like a head.
 */
export function diffHunks(patch: string): readonly DiffHunk[] {
  const hunks: Reading[] = [];
  for (const line of patch.split('\n')) {
    const hunk = hunks.at(-1);
    const isInside = hunk !== undefined && (hunk.beforeLeft > 0 || hunk.afterLeft > 0);
    const begins = isInside ? null : head.exec(line);
    if (begins !== null) hunks.push(begin(begins));
    else if (hunk !== undefined && line.startsWith('\\'))
      hunk.lines.push({ kind: 'note', before: null, after: null, text: line.slice(1).trim() });
    else if (isInside) addLine(hunk, line);
  }
  return hunks.map(({ place, lines }) => ({ place, lines }));
}

function begin([, before, beforeCount = '1', after, afterCount = '1', place = '']: RegExpExecArray): Reading {
  const counts = { beforeLeft: Number(beforeCount), afterLeft: Number(afterCount) };
  return { place, lines: [], before: Number(before), after: Number(after), ...counts };
}

function addLine(hunk: Reading, line: string): void {
  const kind = line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : 'same';
  const isBefore = kind !== 'added';
  const isAfter = kind !== 'removed';
  hunk.lines.push({
    kind,
    before: isBefore ? hunk.before++ : null,
    after: isAfter ? hunk.after++ : null,
    text: line.slice(1),
  });
  if (isBefore) hunk.beforeLeft -= 1;
  if (isAfter) hunk.afterLeft -= 1;
}
