/** Amounts as people read them. */

/** `20,000,000`. Not by `Intl`, which takes 5 MB of a daemon. */
export function countText(count: number): string {
  const [whole = '', decimals] = String(Math.round(count * 1_000) / 1_000).split('.');
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
  return decimals === undefined ? grouped : `${grouped}.${decimals}`;
}

/** `$2.50`. Every decimal that is counted, so that a text never says that a limit is reached when it is not. */
export function usdText(usd: number): string {
  const [whole = '', decimals = ''] = Math.abs(usd).toFixed(6).split('.');
  return `${usd < 0 ? '-' : ''}$${countText(Number(whole))}.${decimals.replace(/0{1,4}$/, '')}`;
}

/** Tokens were used and no cost is known for them: the agent reports none, and their model has no price. */
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
