import type { TokenPrice } from '../../../core/settings/setting.ts';
import type { TokenUsage } from '../../agent.ts';
import { type Fields, fieldsOf, numberOf, textOf } from '../../wire/fields.ts';

/** More than any session can use: a higher count is an error, and must not use up the limit of a day. */
const mostTokens = 1e12;

/**
 * How much a session has used, where the agent reports it: the tokens of a turn with its end, and during the turn the
 * size of the context and the cost of the whole conversation. What must hold: totals cover this session alone and never
 * decrease. In a turn the context counts, which the turn has read at least once.
 */
export class UsageMeter {
  readonly #ownPrices: Readonly<Record<string, TokenPrice>>;
  #ended: Counts = nothing;
  /** The largest context that the running turn has reported. */
  #context = 0;
  /** The cost of the conversation before this session; null until it is known. */
  #paidBefore: number | null;
  #paid = 0;
  #model: string | null = null;

  /**
   * A continued conversation reports the cost of its earlier sessions too: its first report is where this one starts.
   * With a price of its own in the workflow file, the cost of a model follows that price.
   */
  constructor(ownPrices: Readonly<Record<string, TokenPrice>>) {
    this.#ownPrices = ownPrices;
    this.#paidBefore = 0;
  }

  resume(): void {
    this.#paidBefore = null;
  }

  setModel(model: string | null): void {
    this.#model = model ?? this.#model;
  }

  /** Null when the update says nothing new. */
  progress(usage: Fields): TokenUsage | null {
    const { amount, currency } = fieldsOf(usage.cost);
    const paid = (textOf(currency) ?? 'USD') === 'USD' ? (numberOf(amount) ?? 0) : 0;
    const context = count(usage.used);
    if (context <= this.#context && paid <= this.#paid + (this.#paidBefore ?? 0)) return null;
    this.#context = Math.max(this.#context, context);
    if (paid > 0 && paid < mostTokens) {
      this.#paidBefore ??= paid;
      this.#paid = Math.max(this.#paid, paid - this.#paidBefore);
    }
    return this.#session();
  }

  /** A turn has ended, with these tokens; null where the agent does not say. */
  endTurn(usage: Fields | null): TokenUsage | null {
    const exact = usage === null ? nothing : countsOf(usage);
    const isKnown = exact.input + exact.output > 0;
    if (!isKnown && this.#context === 0) return null;
    const turn = isKnown ? exact : { ...nothing, input: this.#context };
    this.#ended = {
      input: this.#ended.input + turn.input,
      cached: this.#ended.cached + turn.cached,
      output: this.#ended.output + turn.output,
      reasoning: this.#ended.reasoning + turn.reasoning,
    };
    this.#context = 0;
    return this.#session();
  }

  #session(): TokenUsage {
    const { input, cached, output, reasoning } = this.#ended;
    const inputTokens = input + this.#context;
    const isPriced =
      Object.hasOwn(this.#ownPrices, '*') || (this.#model !== null && Object.hasOwn(this.#ownPrices, this.#model));
    return {
      inputTokens,
      cachedInputTokens: cached,
      outputTokens: output,
      reasoningTokens: reasoning,
      totalTokens: inputTokens + output,
      // A cost of nothing means that the agent does not know the price of its model.
      ...(isPriced || this.#paid === 0 ? {} : { costMicroUsd: Math.round(this.#paid * 1e6) }),
      ...(this.#model === null ? {} : { model: this.#model }),
    };
  }
}

interface Counts {
  /** With what was read from the cache and written to it. */
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly reasoning: number;
}

const nothing: Counts = { input: 0, cached: 0, output: 0, reasoning: 0 };

/** Agents count the cached tokens in the input or next to it; the sum of all tells which. */
function countsOf(usage: Fields): Counts {
  const [input, output] = [count(usage.inputTokens), count(usage.outputTokens)];
  const [cached, written] = [count(usage.cachedReadTokens), count(usage.cachedWriteTokens)];
  const reasoning = count(usage.thoughtTokens);
  const isApart = count(usage.totalTokens) >= input + output + cached + written;
  return { input: isApart ? input + cached + written : input, cached, output, reasoning };
}

function count(value: unknown): number {
  const number = numberOf(value) ?? 0;
  return Number.isSafeInteger(number) && number >= 0 && number < mostTokens ? number : 0;
}
