import type { TokenPrice } from './settings.ts';

/** The tokens of a session, as totals. */
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

/**
 * What tokens cost by the table of a workflow file, in millionths of a US dollar; null when the table has no price for
 * the model. What must hold: whole numbers without an error of rounding, up to the next millionth, so that more tokens
 * never cost less and a limit is never reached too late. A dollar for a million tokens is a millionth for one.
 */
export function costMicroUsd(
  { inputTokens, cachedInputTokens, outputTokens }: TokenCounts,
  prices: Readonly<Record<string, TokenPrice>>,
  model: string | null,
): number | null {
  const price = priceOf(prices, model);
  if (price === null) return null;
  const input = whole(inputTokens);
  const cached = min(whole(cachedInputTokens ?? 0), input);
  const cost =
    (input - cached) * scaled(price.input) +
    cached * scaled(price.cachedInput ?? price.input) +
    whole(outputTokens) * scaled(price.output);
  const scale = BigInt(priceScale);
  return Number(min((cost + scale - 1n) / scale, BigInt(Number.MAX_SAFE_INTEGER)));
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
