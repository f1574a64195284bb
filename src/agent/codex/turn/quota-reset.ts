import type { QuotaWindow } from '../../../core/account/account.ts';
import { furthestResetMs } from '../../../core/run/backoff.ts';

/**
 * When the quota is available again: the latest reset of the windows that are used up, else the time in a field of the
 * answer, else the time in its words. What must hold: a returned time is in the future, and not further away than the
 * reset of any window can be; otherwise the result is null.
 */
export function quotaResetTime(raw: string, windows: readonly QuotaWindow[], now: number): number | null {
  const isBelieved = (at: number | null): at is number => at !== null && at > now && at - now <= furthestResetMs;
  const ofWindows = windows.flatMap(({ usedPercent, resetsAt, isOther }) =>
    usedPercent >= 100 && isBelieved(resetsAt) && isOther !== true ? [resetsAt] : [],
  );
  if (ofWindows.length > 0) return Math.max(...ofWindows);
  return [...fieldTimes(raw, now), wordedDelay(raw, now), wordedTime(raw, now)].find(isBelieved) ?? null;
}

function fieldTimes(raw: string, now: number): (number | null)[] {
  const at = /\bresets_at"?\s*[:=]\s*(\d{9,11})\b/.exec(raw)?.[1];
  const inSeconds = /\bresets_in_seconds"?\s*[:=]\s*(\d+)/.exec(raw)?.[1];
  return [at === undefined ? null : Number(at) * 1000, inSeconds === undefined ? null : now + Number(inSeconds) * 1000];
}

const units: readonly (readonly [RegExp, number])[] = [
  [/^(ms|milliseconds?)$/, 1],
  [/^(s|secs?|seconds?)$/, 1000],
  [/^(m|mins?|minutes?)$/, 60_000],
  [/^(h|hrs?|hours?)$/, 3_600_000],
  [/^(d|days?)$/, 86_400_000],
];

/** `try again in 1.2s`, `6m0s`, `3 days 4 hours`, `2 hours and 5 minutes`. */
function wordedDelay(raw: string, now: number): number | null {
  const words = /\btry again in ((?:\d+(?:\.\d+)?\s*[a-z]+[\s,]*(?:and\s+)?)+)/i.exec(raw)?.[1] ?? '';
  let whole: number | null = null;
  for (const [, amount, unit] of words.toLowerCase().matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/g)) {
    const factor = units.find(([pattern]) => pattern.test(unit ?? ''))?.[1];
    if (factor === undefined) break;
    whole = (whole ?? 0) + Number(amount) * factor;
  }
  return whole === null ? null : now + Math.ceil(whole);
}

const worded =
  /\btry again at (?:([a-z]{3})[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4}),? (?:at )?)?(\d{1,2}):(\d{2})\s?([ap])m\b/i;

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** Codex leaves out the seconds, so the minute that it names has to pass. */
const minuteMs = 60_000;

/**
 * A time of day that passed less than this long ago does not mean tomorrow: it passed while the message was on its way.
 */
const justNowMs = 15 * 60_000;

/**
 * `try again at 4:51 AM`, which means today, or `at Nov 20th, 2026 4:51 AM`. Codex writes it in the time zone of its
 * process, which it inherits from this one.
 */
function wordedTime(raw: string, now: number): number | null {
  const [, month, day, year, hourText, minuteText, half] = worded.exec(raw) ?? [];
  const [hour, minute] = [Number(hourText), Number(minuteText)];
  if (!(hour >= 1 && hour <= 12 && minute <= 59)) return null;
  const time = [(hour % 12) + (half?.toLowerCase() === 'p' ? 12 : 0), minute] as const;
  if (month !== undefined) {
    const monthIndex = months.indexOf(month.toLowerCase());
    const date = new Date(Number(year), monthIndex, Number(day), ...time);
    // `Date` moves a day that the month does not have into the next month.
    return date.getMonth() === monthIndex && date.getDate() === Number(day) ? date.getTime() + minuteMs : null;
  }
  const today = new Date(now);
  const onDay = (days: number): number =>
    new Date(today.getFullYear(), today.getMonth(), today.getDate() + days, ...time).getTime() + minuteMs;
  const next = [0, 1].map(onDay).find((at) => at > now) ?? null;
  return [-1, 0].map(onDay).some((at) => at <= now && now - at < justNowMs) ? null : next;
}
