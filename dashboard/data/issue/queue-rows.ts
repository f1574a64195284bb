import type { Queue } from '../../../src/client/schema/system.ts';

/** A candidate, whose it is, and its place among those of its project; null for one that waits for other issues. */
export interface QueueRow {
  readonly key: string;
  readonly project: string;
  readonly place: number | null;
  readonly candidate: Queue['candidates'][number];
}

/** The word in the address for candidates that no gate refuses. */
export const startsNext = 'starts';

/** Project by project, each in the order in which it would start them. */
export function queueRows(
  queues: readonly { readonly project: string; readonly value: Queue | null }[],
): readonly QueueRow[] {
  return queues.flatMap(({ project, value }) => {
    let before = 0;
    return (value?.candidates ?? []).map((candidate) => {
      const isBlocked = candidate.reason?.code === 'blocked';
      if (!isBlocked) before += 1;
      return { key: `${project}/${candidate.issue_id}`, project, place: isBlocked ? null : before, candidate };
    });
  });
}

/** The reasons for waiting with their counts; candidates that start come first, then the most frequent reason. */
export function reasonCounts(rows: readonly QueueRow[]): readonly (readonly [code: string, count: number])[] {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(reasonOf(row), (counts.get(reasonOf(row)) ?? 0) + 1);
  const weight = ([code, count]: readonly [string, number]): number =>
    code === startsNext ? Number.POSITIVE_INFINITY : count;
  return [...counts].sort((a, b) => weight(b) - weight(a) || (a[0] < b[0] ? -1 : 1));
}

/** The rows with a reason, if one is named, and with every word in their text. */
export function matchingRows(
  rows: readonly QueueRow[],
  { reason, text }: { readonly reason: string; readonly text: string },
): readonly QueueRow[] {
  const words = text.toLowerCase().split(/\s+/u).filter(Boolean);
  return rows.filter((row) => (reason === '' || reasonOf(row) === reason) && hasWords(row, words));
}

function reasonOf({ candidate }: QueueRow): string {
  return candidate.reason?.code ?? startsNext;
}

function hasWords(
  { candidate: { issue_identifier, title, state, reason } }: QueueRow,
  words: readonly string[],
): boolean {
  if (words.length === 0) return true;
  const text = `${issue_identifier} ${title} ${state} ${reason?.text ?? ''}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
