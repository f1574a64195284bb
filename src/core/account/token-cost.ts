import type { TokenPrice } from '../settings/setting.ts';

export interface TokenCounts {
  readonly inputTokens: number;
  /** Of the input, what was read from a cache. */
  readonly cachedInputTokens?: number;
  readonly outputTokens: number;
}

/** The price of models that have none of their own. */
const anyModel = '*';

/** Prices are kept to a billionth of a dollar for a million tokens: exact for every price that is asked anywhere. */
const priceScale = 1_000_000_000;

export interface Cost {
  /** In millionths of a US dollar. */
  readonly microUsd: number;
  /** Of the last millionth, how many billionths were rounded up: what comes next is paid from them first. */
  readonly roundedUp: number;
}

export const nothingPaid: Cost = { microUsd: 0, roundedUp: 0 };

/**
 * What it costs when these tokens come to what was paid so far, by the table of a workflow file; where that has no price
 * for the model they cost nothing. What must hold: whole numbers without an error of rounding, up to the next millionth
 * once over all, however the tokens were told in parts; so that more tokens never cost less and a limit is never reached
 * too late. A dollar for a million tokens is a millionth for one.
 */
export function costWith(
  paid: Cost,
  { inputTokens, cachedInputTokens, outputTokens }: TokenCounts,
  prices: Readonly<Record<string, TokenPrice>>,
  model: string | null,
): Cost {
  const price = priceOf(prices, model);
  if (price === null) return paid;
  const input = whole(inputTokens);
  const cached = min(whole(cachedInputTokens ?? 0), input);
  const scale = BigInt(priceScale);
  const cost =
    BigInt(paid.microUsd) * scale -
    BigInt(paid.roundedUp) +
    (input - cached) * scaled(price.input) +
    cached * scaled(price.cachedInput ?? price.input) +
    whole(outputTokens) * scaled(price.output);
  const microUsd = (cost + scale - 1n) / scale;
  const most = BigInt(Number.MAX_SAFE_INTEGER);
  if (microUsd > most) return { microUsd: Number(most), roundedUp: 0 };
  return { microUsd: Number(microUsd), roundedUp: Number(microUsd * scale - cost) };
}

/** By own keys alone: a model may be called `constructor`. */
function priceOf(prices: Readonly<Record<string, TokenPrice>>, model: string | null): TokenPrice | null {
  const name = model !== null && Object.hasOwn(prices, model) ? model : anyModel;
  return Object.hasOwn(prices, name) ? (prices[name] ?? null) : null;
}

function scaled(usdPerMillion: number): bigint {
  return whole(Math.round(usdPerMillion * priceScale));
}

/** What an agent told as a number; what is none counts as nothing. */
function whole(count: number): bigint {
  return Number.isFinite(count) && count > 0 ? BigInt(Math.floor(count)) : 0n;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
