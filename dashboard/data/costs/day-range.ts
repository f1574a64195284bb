/** Days as the store counts them: in UTC, written `2026-11-15`. */
const dayMs = 86_400_000;

/** More is not asked for at once. */
export const mostDays = 366;
const usualDays = 30;

/** Both ends are in it. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** The last `count` days, including today. */
export function lastDays(count: number, today: string): DayRange {
  return { from: dayOf(startOf(today) - (count - 1) * dayMs), to: today };
}

/**
 * The range that the words of an address mean: two days, or a number of days up to today. The result is always a valid
 * range: in order, not longer than `mostDays`, and the default one where the words mean nothing.
 */
export function readRange(
  { from, to, days }: { readonly from: string; readonly to: string; readonly days: string },
  today: string,
): DayRange {
  if (isDay(from) && isDay(to)) {
    const [first, last] = from <= to ? [from, to] : [to, from];
    const earliest = dayOf(startOf(last) - (mostDays - 1) * dayMs);
    return { from: first < earliest ? earliest : first, to: last };
  }
  const count = /^\d{1,3}$/u.test(days) ? Number(days) : usualDays;
  return lastDays(Math.min(mostDays, Math.max(1, count)), today);
}

/** Every day of a range, also those on which nothing happened. */
export function daysOf({ from, to }: DayRange): readonly string[] {
  const days: string[] = [];
  for (let at = startOf(from); at <= startOf(to) && days.length < mostDays; at += dayMs) days.push(dayOf(at));
  return days;
}

function isDay(text: string): boolean {
  // Years that a person means; a date field returns 0002 while the user types 2026.
  return /^[12]\d{3}-\d\d-\d\d$/u.test(text) && !Number.isNaN(startOf(text)) && dayOf(startOf(text)) === text;
}

function startOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}
