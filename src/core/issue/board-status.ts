/** The statuses of Baton's own board. */
export const boardStatuses = ['backlog', 'todo', 'in_progress', 'review', 'done', 'blocked', 'cancelled'] as const;

export type BoardStatus = (typeof boardStatuses)[number];
