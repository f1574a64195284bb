import type { QuotaWindow } from '../../../core/account/account.ts';
import { furthestResetMs } from '../../../core/run/backoff.ts';
import { type Fields, fieldsOf, numberOf, textOf } from '../../wire/fields.ts';

/** Windows that all models share; others are for single models. */
const planWindows: ReadonlyMap<string, number> = new Map([
  ['five_hour', 5 * 60],
  ['seven_day', 7 * 24 * 60],
]);
const longestNameChars = 64;

/**
 * The windows of the account's quota in a `rate_limit_event`. Claude Code sends it for logins with a plan only. A reset
 * time that is not a date, or is further away than any window can be, is dropped.
 */
export function quotaWindowsIn(info: Fields, now: number): readonly QuotaWindow[] {
  const windows = Object.entries(fieldsOf(info.unifiedWindows)).map(
    ([name, value]) => [name, fieldsOf(value)] as const,
  );
  const type = textOf(info.rateLimitType);
  const used = numberOf(info.utilization) ?? (info.status === 'rejected' ? 1 : null);
  const named =
    type === null || windows.some(([name]) => name === type) ? [] : [[type, { ...info, utilization: used }] as const];
  return [...windows, ...named].flatMap(([name, fields]) => windowOf(name, fields, now));
}

function windowOf(name: string, fields: Fields, now: number): QuotaWindow[] {
  const used = numberOf(fields.utilization);
  if (used === null) return [];
  const windowMinutes = planWindows.get(name) ?? null;
  return [
    {
      name: name.slice(0, longestNameChars),
      usedPercent: used * 100,
      windowMinutes,
      resetsAt: resetTime(fields, now),
      ...(windowMinutes === null ? { isOther: true } : {}),
    },
  ];
}

/** When the quota is available again, in milliseconds; null where that is not said, or cannot be. */
export function resetTime({ resetsAt }: Fields, now: number): number | null {
  const seconds = numberOf(resetsAt);
  return seconds !== null && Math.abs(seconds * 1000 - now) <= furthestResetMs ? seconds * 1000 : null;
}
