/** The statuses of Baton's own board. */
export const boardStatuses = ['backlog', 'todo', 'in_progress', 'review', 'done', 'blocked', 'cancelled'] as const;

export type BoardStatus = (typeof boardStatuses)[number];

/** The status that a text names: trimmed and in any case, `In Progress` and `in-progress` included. */
export function readBoardStatus(text: string): BoardStatus | null {
  const wanted = text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
  return boardStatuses.find((status) => status === wanted) ?? null;
}
