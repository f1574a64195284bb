import type { QuotaWindow } from '../../core/account.ts';
import { type Fields, fieldsOf, firstOf, isFields, numberOf, textOf } from './fields.ts';

/**
 * The windows of the account's quota that a frame tells, in both spellings: `account/rateLimits/updated` and, of older
 * ones, `rate_limits` beside a token count. Windows that are null were not told and stay what they were.
 */
export function quotaWindowsIn(params: Fields, now: number): readonly QuotaWindow[] {
  const message = fieldsOf(params.msg);
  const places = [params, message, fieldsOf(message.payload), fieldsOf(message.info)];
  const found = places.map((place) => firstOf(place, 'rateLimits', 'rate_limits')).find(isFields);
  if (found === undefined) return [];
  const limit = textOf(firstOf(found, 'limitId', 'limit_id'));
  // The limit of the plan is called `codex`; a limit of one model beside it has windows of its own.
  const prefix = limit === null || limit === 'codex' ? '' : `${limit} `;
  return ['primary', 'secondary'].flatMap((name) => windowOf(`${prefix}${name}`, fieldsOf(found[name]), now));
}

function windowOf(name: string, fields: Fields, now: number): QuotaWindow[] {
  const usedPercent = numberOf(firstOf(fields, 'usedPercent', 'used_percent'));
  if (usedPercent === null) return [];
  const minutes = numberOf(firstOf(fields, 'windowDurationMins', 'window_minutes', 'windowMinutes'));
  const atSeconds = numberOf(firstOf(fields, 'resetsAt', 'resets_at'));
  const inSeconds = numberOf(firstOf(fields, 'resetsInSeconds', 'resets_in_seconds'));
  const resetsAt = atSeconds !== null ? atSeconds * 1000 : inSeconds !== null ? now + inSeconds * 1000 : null;
  return [{ name, usedPercent, windowMinutes: minutes, resetsAt }];
}
