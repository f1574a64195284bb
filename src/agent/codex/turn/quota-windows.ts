import type { QuotaWindow } from '../../../core/account/account.ts';
import { furthestResetMs } from '../../../core/run/backoff.ts';
import { type Fields, fieldsOf, firstOf, isFields, numberOf, textOf } from '../../wire/fields.ts';

/**
 * Codex's name for the limit of the plan (0.166.0); older versions do not name it. Other limits are for single models.
 */
const planLimit = 'codex';
const longestLimitChars = 64;

/**
 * The windows of the account's quota that a frame carries, in both spellings: `account/rateLimits/updated` and, from
 * older versions, `rate_limits` next to a token count. Windows that are null were not reported and stay unchanged. A
 * reset time that is not a date, or is further away than any window can be, is dropped.
 */
export function quotaWindowsIn(params: Fields, now: number): readonly QuotaWindow[] {
  const message = fieldsOf(params.msg);
  const places = [params, message, fieldsOf(message.payload), fieldsOf(message.info)];
  const found = places.map((place) => firstOf(place, 'rateLimits', 'rate_limits')).find(isFields);
  if (found === undefined) return [];
  const limit = (textOf(firstOf(found, 'limitId', 'limit_id')) ?? planLimit).slice(0, longestLimitChars);
  const windows = ['primary', 'secondary'].flatMap((name) => windowOf(name, fieldsOf(found[name]), now));
  if (limit === planLimit) return windows;
  return windows.map((window) => ({ ...window, name: `${limit} ${window.name}`, isOther: true }));
}

function windowOf(name: string, fields: Fields, now: number): QuotaWindow[] {
  const usedPercent = numberOf(firstOf(fields, 'usedPercent', 'used_percent'));
  if (usedPercent === null) return [];
  const minutes = numberOf(firstOf(fields, 'windowDurationMins', 'window_minutes', 'windowMinutes'));
  const atSeconds = numberOf(firstOf(fields, 'resetsAt', 'resets_at'));
  const inSeconds = numberOf(firstOf(fields, 'resetsInSeconds', 'resets_in_seconds'));
  const resetsAt = atSeconds !== null ? atSeconds * 1000 : inSeconds !== null ? now + inSeconds * 1000 : null;
  const isBelieved = resetsAt !== null && Math.abs(resetsAt - now) <= furthestResetMs;
  return [{ name, usedPercent, windowMinutes: minutes, resetsAt: isBelieved ? resetsAt : null }];
}
