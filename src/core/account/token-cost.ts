import type { TokenPrice } from '../settings/setting.ts';
import { knownPrices } from './known-prices.ts';

export interface TokenCounts {
  readonly inputTokens: number;
  /** The part of the input that was read from a cache. */
  readonly cachedInputTokens?: number;
  readonly outputTokens: number;
}

/** What an agent says that it used, as running totals of its session. */
export interface ReportedUsage extends TokenCounts {
  /** In millionths of a US dollar. */
  readonly costMicroUsd?: number;
  readonly model?: string;
}

/** The price of models that have none of their own. */
const anyModel = '*';

/** Prices are kept to a billionth of a dollar for a million tokens: exact for every price that is asked anywhere. */
const priceScale = 1_000_000_000;

export interface Cost {
  /** In millionths of a US dollar. */
  readonly microUsd: number;
  /** How many billionths the last millionth was rounded up by: the next tokens use these first. */
  readonly roundedUp: number;
}

export const nothingPaid: Cost = { microUsd: 0, roundedUp: 0 };

/**
 * Adds the cost of these tokens to what was paid so far, by the price table of a workflow file, and by the known prices
 * for a model that the table leaves out; a model without a price costs nothing. What must hold: whole numbers without rounding errors, rounded up to the next millionth once over the
 * whole sum, however the agent splits its reports. So more tokens never cost less, and a limit is never reached too
 * late. A dollar for a million tokens is a millionth for one.
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

function priceOf(prices: Readonly<Record<string, TokenPrice>>, model: string | null): TokenPrice | null {
  const name = model ?? anyModel;
  return priceIn(prices, name) ?? priceIn(prices, anyModel) ?? priceIn(knownPrices, name.replace(variant, ''));
}

/** By own keys alone: a model may be called `constructor`. */
function priceIn(prices: Readonly<Record<string, TokenPrice>>, name: string): TokenPrice | null {
  return Object.hasOwn(prices, name) ? (prices[name] ?? null) : null;
}

/** The date of a model, and what an agent says about it: its window, or how much it thinks. */
const variant = /(?:-\d{4}-?\d{2}-?\d{2})?(?:\[[\w.]+\])?$/;

function scaled(usdPerMillion: number): bigint {
  return whole(Math.round(usdPerMillion * priceScale));
}

/** A number that an agent reported; anything else counts as 0. */
function whole(count: number): bigint {
  return Number.isFinite(count) && count > 0 ? BigInt(Math.floor(count)) : 0n;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
