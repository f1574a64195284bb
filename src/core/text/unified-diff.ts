/** The difference between two texts, as a unified diff with line numbers. */
export interface TextDiff {
  readonly added: number;
  readonly removed: number;
  /** Empty: the texts have the same lines. */
  readonly patch: string;
}

/** Lines around a change that a patch shows. */
const contextLines = 3;
/** Two texts that differ in more lines than this are shown as one removed and one added: the search would take long. */
const mostEdits = 600;

export function unifiedDiff(before: string, after: string, name: string): TextDiff {
  const lines = compareLines(linesOf(before), linesOf(after));
  const added = lines.filter(({ sign }) => sign === '+').length;
  const removed = lines.filter(({ sign }) => sign === '-').length;
  if (added + removed === 0) return { added, removed, patch: '' };
  const head = `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n`;
  return { added, removed, patch: head + hunksOf(lines).join('') };
}

function linesOf(text: string): readonly string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}

interface Line {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

function compareLines(before: readonly string[], after: readonly string[]): readonly Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let [endBefore, endAfter] = [before.length, after.length];
  while (endBefore > start && endAfter > start && before[endBefore - 1] === after[endAfter - 1]) {
    endBefore -= 1;
    endAfter -= 1;
  }
  const same = (text: string): Line => ({ sign: ' ', text });
  return [
    ...before.slice(0, start).map(same),
    ...shortestEdit(before.slice(start, endBefore), after.slice(start, endAfter)),
    ...before.slice(endBefore).map(same),
  ];
}

/** The shortest way from one list to the other, as Myers finds it: the furthest point on each diagonal for each number of edits. */
function shortestEdit(before: readonly string[], after: readonly string[]): readonly Line[] {
  const steps: Map<number, number>[] = [];
  let reached = new Map<number, number>([[1, 0]]);
  for (let edits = 0; edits <= Math.min(mostEdits, before.length + after.length); edits += 1) {
    const next = new Map<number, number>();
    steps.push(reached);
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = startOn(reached, diagonal, edits);
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x += 1;
      next.set(diagonal, x);
      if (x >= before.length && x - diagonal >= after.length) return wayBack(steps, before, after);
    }
    reached = next;
  }
  return [...before.map((text): Line => ({ sign: '-', text })), ...after.map((text): Line => ({ sign: '+', text }))];
}

/** Comes from the diagonal above by an added line, or from the one below by a removed line. */
function startOn(reached: ReadonlyMap<number, number>, diagonal: number, edits: number): number {
  const isAdded = cameByAdding(reached, diagonal, edits);
  return isAdded ? (reached.get(diagonal + 1) ?? 0) : (reached.get(diagonal - 1) ?? 0) + 1;
}

function cameByAdding(reached: ReadonlyMap<number, number>, diagonal: number, edits: number): boolean {
  if (diagonal === -edits) return true;
  return diagonal !== edits && (reached.get(diagonal - 1) ?? -1) < (reached.get(diagonal + 1) ?? -1);
}

function wayBack(
  steps: readonly ReadonlyMap<number, number>[],
  before: readonly string[],
  after: readonly string[],
): readonly Line[] {
  const lines: Line[] = [];
  let [x, y] = [before.length, after.length];
  for (let edits = steps.length - 1; edits >= 0; edits -= 1) {
    const reached = steps[edits] ?? new Map<number, number>();
    const diagonal = x - y;
    const isAdded = cameByAdding(reached, diagonal, edits);
    const from = isAdded ? diagonal + 1 : diagonal - 1;
    const fromX = edits === 0 ? 0 : (reached.get(from) ?? 0);
    const fromY = edits === 0 ? 0 : fromX - from;
    while (x > fromX && y > fromY) {
      x -= 1;
      y -= 1;
      lines.push({ sign: ' ', text: before[x] ?? '' });
    }
    if (edits === 0) break;
    if (isAdded) lines.push({ sign: '+', text: after[y - 1] ?? '' });
    else lines.push({ sign: '-', text: before[x - 1] ?? '' });
    [x, y] = [fromX, fromY];
  }
  return lines.toReversed();
}

function hunksOf(lines: readonly Line[]): readonly string[] {
  const changed = lines.flatMap(({ sign }, at) => (sign === ' ' ? [] : [at]));
  const spans: { from: number; to: number }[] = [];
  for (const at of changed) {
    const last = spans.at(-1);
    if (last !== undefined && at - contextLines <= last.to + contextLines + 1) last.to = at;
    else spans.push({ from: at, to: at });
  }
  return spans.map(({ from, to }) => {
    const first = Math.max(0, from - contextLines);
    const shown = lines.slice(first, to + contextLines + 1);
    const [oldStart, newStart] = [countOf(lines.slice(0, first), '+'), countOf(lines.slice(0, first), '-')];
    const old = rangeOf(oldStart, countOf(shown, '+'));
    const now = rangeOf(newStart, countOf(shown, '-'));
    return `@@ -${old} +${now} @@\n${shown.map(({ sign, text }) => `${sign}${text}\n`).join('')}`;
  });
}

function countOf(lines: readonly Line[], without: '+' | '-'): number {
  return lines.filter(({ sign }) => sign !== without).length;
}

/** Without lines, the range names the line before it. */
function rangeOf(before: number, lines: number): string {
  return `${lines === 0 ? before : before + 1},${lines}`;
}
