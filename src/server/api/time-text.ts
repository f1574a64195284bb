/** ISO 8601 in UTC; null for what is no time at all, as an agent may tell one that is none. */
export function timeText(at: number | null): string | null {
  if (at === null) return null;
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
