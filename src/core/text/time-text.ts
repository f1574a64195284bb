/** ISO 8601 in UTC; null for an invalid time, because an agent may report one. */
export function timeText(at: number | null): string | null {
  if (at === null) return null;
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** For a time that Baton recorded itself; an invalid one becomes the Unix epoch, so that there is always an answer. */
export function certainTime(at: number): string {
  return timeText(at) ?? new Date(0).toISOString();
}

/** `2026-11-17 13:28:42Z`, for people; an invalid time as above. */
export function timeToSecond(at: number): string {
  return `${certainTime(at).slice(0, 19).replace('T', ' ')}Z`;
}
