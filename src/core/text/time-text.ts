/** ISO 8601 in UTC; null for what is no time at all, as an agent may tell one that is none. */
export function timeText(at: number | null): string | null {
  if (at === null) return null;
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** Of a time that Baton wrote down itself; what could be none is the beginning of time rather than no answer at all. */
export function certainTime(at: number): string {
  return timeText(at) ?? new Date(0).toISOString();
}
