/** The statuses of Baton's own board. */
export const boardStatuses = ['backlog', 'todo', 'in_progress', 'review', 'done', 'blocked', 'cancelled'] as const;

export type BoardStatus = (typeof boardStatuses)[number];

/** The status somebody means by a text: trimmed, whatever its case, `In Progress` and `in-progress` included. */
export function readBoardStatus(text: string): BoardStatus | null {
  const wanted = text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
  return boardStatuses.find((status) => status === wanted) ?? null;
}
