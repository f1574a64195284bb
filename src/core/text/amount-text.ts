/** Amounts as people read them. */

const counts = new Intl.NumberFormat('en-US');

/** Every decimal that is counted, so that a text never says that a limit is reached when it is not. */
const money = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  minimumFractionDigits: 2,
  maximumFractionDigits: 6,
});

/** `20,000,000`. */
export function countText(count: number): string {
  return counts.format(count);
}

/** `$2.50`. */
export function usdText(usd: number): string {
  return money.format(usd);
}

/** Tokens were used and no cost is known for them: the agent reports none, and `agent.prices` has no price. */
export function hasNoPrice(tokens: number, usd: number): boolean {
  return usd === 0 && tokens > 0;
}

/** Instead of a cost, with the setting that makes it known. */
export const noPriceText = 'no price (agent.prices)';

/** `3 h 12 min`, `4 h`, `1 min 30 s`, `1.5 s`, `850 ms`: the two largest units, the rest cut off. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.floor(ms)} ms`;
  if (ms < 60_000) return `${Math.floor(ms / 100) / 10} s`;
  const seconds = Math.floor(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return twoUnits([minutes, 'min'], [seconds % 60, 's']);
  return twoUnits([Math.floor(minutes / 60), 'h'], [minutes % 60, 'min']);
}

type Part = readonly [amount: number, unit: string];

function twoUnits([large, largeUnit]: Part, [small, smallUnit]: Part): string {
  const first = `${countText(large)} ${largeUnit}`;
  return small === 0 ? first : `${first} ${small} ${smallUnit}`;
}
