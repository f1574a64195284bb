/** Spending is counted by the UTC day: the same for everyone who shares a store, and always 24 hours. */

const dayMs = 24 * 3_600_000;

/** `2026-11-15`. */
export function utcDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** The first moment of the next day; always after `at`. */
export function nextUtcMidnight(at: number): number {
  return (Math.floor(at / dayMs) + 1) * dayMs;
}
