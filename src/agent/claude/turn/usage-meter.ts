import { costWith, nothingPaid } from '../../../core/account/token-cost.ts';
import type { TokenPrice } from '../../../core/settings/setting.ts';
import type { TokenUsage } from '../../agent.ts';
import { type Fields, fieldsOf, numberOf, textOf } from '../../wire/fields.ts';

/** More than any session can use: a higher count is an error, and must not use up the limit of a day. */
const mostTokens = 1e12;
/** Calls of a model in one turn whose tokens are kept apart; more are added to the last one's. */
const mostCalls = 10_000;

/**
 * How much a session has used. Claude Code repeats the usage of a call with each of its messages, reports the cost and
 * the tokens of a conversation with those of earlier processes in it, and at the end of a turn the exact part since the
 * last one, by model and with sub-agents. What must hold: totals cover this session alone, never decrease, and count a
 * call once; in a turn they are the calls reported so far, and at its end they are exact.
 */
export class UsageMeter {
  readonly #ownPrices: Readonly<Record<string, TokenPrice>>;
  /** Of the turns that have ended. */
  #ended: Counts = nothing;
  #endedUsd = 0;
  /** Of the calls of the running turn, by the id of their message. */
  readonly #calls = new Map<string, Counts & { readonly model: string | null }>();
  #model: string | null = null;

  /** With a price of its own in the workflow file, the cost of a model follows that price and is not reported. */
  constructor(ownPrices: Readonly<Record<string, TokenPrice>>) {
    this.#ownPrices = ownPrices;
  }

  /** A call of a model reported its tokens so far; null when it has none. */
  call(messageId: string, usage: Fields, model: string | null, isSubAgent: boolean): TokenUsage | null {
    const counts = callCounts(usage);
    // A made-up message about an error.
    if (counts === null || model === '<synthetic>') return null;
    if (!isSubAgent) this.#model = model ?? this.#model;
    const known = this.#calls.get(messageId);
    if (known === undefined && this.#calls.size >= mostCalls) return null;
    this.#calls.set(messageId, { ...combine(known ?? nothing, counts, Math.max), model: known?.model ?? model });
    return this.#session();
  }

  /** A turn has ended. Older versions report no exact part: then its calls count. */
  endTurn(result: Fields): TokenUsage {
    const exact = Object.values(fieldsOf(result.model_usage_since_last_result)).map(fieldsOf);
    const isExact = typeof result.model_usage_since_last_result === 'object';
    const counted = isExact ? exact.map(modelCounts) : [...this.#calls.values()];
    const usd = isExact ? exact.map(({ costUSD }) => numberOf(costUSD) ?? 0) : [this.#estimate() / 1e6];
    this.#ended = counted.reduce((sum, each) => combine(sum, each, (a, b) => a + b), this.#ended);
    this.#endedUsd += usd.filter((each) => each >= 0 && each < mostTokens).reduce((sum, each) => sum + each, 0);
    this.#calls.clear();
    return this.#session();
  }

  #session(): TokenUsage {
    const calls = [...this.#calls.values()];
    const all = calls.reduce<Counts>((sum, each) => combine(sum, each, (a, b) => a + b), this.#ended);
    const costMicroUsd = this.#endedUsd * 1e6 + this.#estimate();
    return {
      inputTokens: all.input,
      cachedInputTokens: all.cached,
      outputTokens: all.output,
      reasoningTokens: all.reasoning,
      totalTokens: all.input + all.output,
      ...(this.#hasOwnPrice() ? {} : { costMicroUsd }),
      ...(this.#model === null ? {} : { model: this.#model }),
    };
  }

  #hasOwnPrice(): boolean {
    return Object.hasOwn(this.#ownPrices, '*') || (this.#model !== null && Object.hasOwn(this.#ownPrices, this.#model));
  }

  /** In millionths of a dollar, by the known prices. */
  #estimate(): number {
    let paid = nothingPaid;
    for (const { input, cached, output, model } of this.#calls.values())
      paid = costWith(paid, { inputTokens: input, cachedInputTokens: cached, outputTokens: output }, {}, model);
    return paid.microUsd;
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

function callCounts(usage: Fields): Counts | null {
  if (numberOf(usage.input_tokens) === null && numberOf(usage.output_tokens) === null) return null;
  const cached = count(usage.cache_read_input_tokens);
  return {
    input: count(usage.input_tokens) + count(usage.cache_creation_input_tokens) + cached,
    cached,
    output: count(usage.output_tokens),
    reasoning: count(fieldsOf(usage.output_tokens_details).thinking_tokens),
  };
}

function modelCounts(usage: Fields): Counts {
  const cached = count(usage.cacheReadInputTokens);
  return {
    input: count(usage.inputTokens) + count(usage.cacheCreationInputTokens) + cached,
    cached,
    output: count(usage.outputTokens),
    reasoning: count(usage.thinkingTokens),
  };
}

function count(value: unknown): number {
  const number = numberOf(value) ?? 0;
  return Number.isSafeInteger(number) && number >= 0 && number < mostTokens ? number : 0;
}

function combine(a: Counts, b: Counts, rule: (a: number, b: number) => number): Counts {
  return {
    input: rule(a.input, b.input),
    cached: rule(a.cached, b.cached),
    output: rule(a.output, b.output),
    reasoning: rule(a.reasoning, b.reasoning),
  };
}

/** The usage that a message or an event of the stream carries, with the id of its call. */
export function usageIn(message: Fields): {
  readonly id: string;
  readonly usage: Fields;
  readonly model: string | null;
} {
  const event = fieldsOf(message.event);
  const whole = fieldsOf(event.message ?? message.message);
  return {
    id: textOf(message.api_message_id) ?? textOf(whole.id) ?? '',
    usage: fieldsOf(event.usage ?? whole.usage),
    model: textOf(whole.model),
  };
}
