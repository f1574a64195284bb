/** Statuses of HTTP that say nothing about the request: the service, or a server before it, answers no one. */
export const noAnswerStatuses: ReadonlySet<number> = new Set([502, 503, 504, 529]);
