/** A duration for a narrow column: `2s`, `20m 25s`, `3h 5m`, `2d 4h`. What is below nothing is nothing. */
export function shortDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (minutes === 0) return `${seconds}s`;
  if (hours === 0) return `${minutes}m ${seconds % 60}s`;
  return hours < 24 ? `${hours}h ${minutes % 60}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** How long until then: a second that has begun counts, so that it never says that the time has come when it has not. */
export function countdown(ms: number): string {
  return shortDuration(Math.ceil(ms / 1_000) * 1_000);
}

/** How long ago that was; null when nobody knows. */
export function ageOf(time: string | null, at: number): string | null {
  return time === null ? null : shortDuration(at - Date.parse(time));
}
