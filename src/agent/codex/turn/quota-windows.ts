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
  const found = rateLimitsIn(params);
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

function rateLimitsIn(params: Fields): Fields | undefined {
  const message = fieldsOf(params.msg);
  const places = [params, message, fieldsOf(message.payload), fieldsOf(message.info)];
  return places.map((place) => firstOf(place, 'rateLimits', 'rate_limits')).find(isFields);
}

/** The most fields of a report, and of each part of it. */
const mostFields = 30;
const longestTextChars = 200;

/**
 * The report on limits that a frame carries, as Codex made it, in the spelling of Symphony (`limit_id`); null where it
 * carries none. Deeper parts than a window and longer texts are dropped.
 */
export function reportedLimitsIn(params: Fields): Fields | null {
  const found = rateLimitsIn(params);
  return found === undefined ? null : plainFields(found, 1);
}

function plainFields(fields: Fields, depth: number): Fields {
  const kept = Object.entries(fields)
    .slice(0, mostFields)
    .flatMap(([name, value]) => {
      const plain = isFields(value) && depth > 0 ? plainFields(value, depth - 1) : value;
      const isKept = plain === value ? isPlain(value) : true;
      return isKept ? [[snakeCase(name.slice(0, longestLimitChars)), plain] as const] : [];
    });
  return Object.fromEntries(kept);
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' ? value.length <= longestTextChars : value === null || typeof value !== 'object';
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
