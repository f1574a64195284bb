/*
 * What a few numbers say about all that could have been. An interval is where the true value lies with 95 % confidence.
 */

/** Of the normal distribution, for 95 %. */
const z = 1.959_963_985;

export interface Share {
  readonly count: number;
  readonly of: number;
  /** Between 0 and 1. Null without any case. */
  readonly low: number | null;
  readonly high: number | null;
}

/** A share with its Wilson interval, which holds for few cases too. */
export function shareOf(count: number, of: number): Share {
  if (of === 0) return { count, of, low: null, high: null };
  const p = count / of;
  const middle = (p + (z * z) / (2 * of)) / (1 + (z * z) / of);
  const half = (z / (1 + (z * z) / of)) * Math.sqrt((p * (1 - p)) / of + (z * z) / (4 * of * of));
  // Without the rounding of floating point: all and nothing are possible values of themselves.
  return { count, of, low: count === 0 ? 0 : middle - half, high: count === of ? 1 : middle + half };
}

export interface Middle {
  readonly of: number;
  readonly median: number | null;
  readonly low: number | null;
  readonly high: number | null;
  /** `range`: the smallest and the largest value, because there are too few for an interval. */
  readonly interval: 'confidence' | 'range' | null;
}

/** The median, with the interval between two of the values that has it with 95 % confidence. It needs six values. */
export function middleOf(values: readonly number[]): Middle {
  const sorted = values.toSorted((one, other) => one - other);
  const of = sorted.length;
  const at = (place: number): number => sorted[place] ?? Number.NaN;
  if (of === 0) return { of, median: null, low: null, high: null, interval: null };
  const median = (at(Math.floor((of - 1) / 2)) + at(Math.floor(of / 2))) / 2;
  const outside = valuesOutside(of);
  const isRange = outside === 0;
  const skipped = Math.max(0, outside - 1);
  return { of, median, low: at(skipped), high: at(of - 1 - skipped), interval: isRange ? 'range' : 'confidence' };
}

/** The largest k for which the k-th values from both ends still enclose the median with 95 %; 0 when even the ends do not. */
function valuesOutside(of: number): number {
  // The chance that fewer than k of the values are below the median, in logarithms: 2^-1000 is too small for a number.
  let tail = 0;
  for (let k = 0; k < of / 2; k += 1) {
    tail += Math.exp(logChoose(of, k) - of * Math.LN2);
    if (2 * tail > 0.05) return k;
  }
  return Math.floor(of / 2);
}

/**
 * The chance of a difference at least as large between two shares if there were none (Fisher's exact test, two-sided). It
 * holds for any number of cases.
 */
export function chanceOfShares(one: Share, other: Share): number {
  const total = one.of + other.of;
  const count = one.count + other.count;
  const logOf = (k: number): number => logChoose(one.of, k) + logChoose(other.of, count - k) - logChoose(total, count);
  const seen = logOf(one.count);
  let chance = 0;
  for (let k = Math.max(0, count - other.of); k <= Math.min(one.of, count); k += 1)
    if (logOf(k) <= seen + 1e-7) chance += Math.exp(logOf(k));
  return Math.min(1, chance);
}

function logChoose(n: number, k: number): number {
  return logFactorial(n) - logFactorial(k) - logFactorial(n - k);
}

const logFactorials = [0];

function logFactorial(n: number): number {
  for (let next = logFactorials.length; next <= n; next += 1)
    logFactorials.push((logFactorials[next - 1] ?? 0) + Math.log(next));
  return logFactorials[n] ?? 0;
}
