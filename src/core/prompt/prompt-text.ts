import { countText, durationText, usdText } from '../text/amount-text.ts';
import type { Middle, Share } from './intervals.ts';
import type { Difference } from './prompt-metrics.ts';

/** `3 of 10 (11–60 %)`: never a percentage alone. */
export function shareText({ count, of, low, high }: Share): string {
  if (low === null || high === null) return '-';
  return `${countText(count)} of ${countText(of)} (${Math.round(low * 100)}–${Math.round(high * 100)} %)`;
}

/** `12,300 (10,000 to 15,000)`; for too few values `12,300 (3 values, 10,000 to 15,000)`. */
export function middleText({ of, median, low, high, interval }: Middle, textOf: (value: number) => string): string {
  if (median === null || low === null || high === null) return '-';
  if (of === 1) return `${textOf(median)} (1 value)`;
  const few = interval === 'range' ? `${of} values, ` : '';
  return `${textOf(median)} (${few}${textOf(low)} to ${textOf(high)})`;
}

export const tokensText = (tokens: number): string => countText(Math.round(tokens));
export const costText = (usd: number): string => usdText(Math.round(usd * 10_000) / 10_000);
export const timeText = (ms: number): string => durationText(ms);

export const differenceTexts: Readonly<Record<Difference, string>> = {
  too_few: 'too few to tell',
  none_seen: 'none seen',
  may_be_chance: 'may be chance',
  differs: 'differs',
};

/** Enough to tell versions apart. */
export function shortVersion(version: string): string {
  return version.slice(0, 8);
}
