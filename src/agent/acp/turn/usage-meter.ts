import { costWith, nothingPaid } from '../../../core/account/token-cost.ts';
import type { TokenPrice } from '../../../core/settings/setting.ts';
import type { TokenUsage } from '../../agent.ts';
import { type Fields, fieldsOf, listOf, numberOf, textOf } from '../../wire/fields.ts';

/** More than any session can use: a higher count is an error, and must not use up the limit of a day. */
const mostTokens = 1e12;

/**
 * How much a session has used, where the agent reports it: the tokens of a turn with its end, and during the turn the
 * size of the context and the cost of the whole conversation. What must hold: totals cover this session alone and never
 * decrease. In a turn a context that grew counts in the sum, because the turn has read or written all of it. Where only
 * the last call of a turn is reported, each call counts as much as the last one: the context grows in a turn, so the sum
 * is rather too high than too low.
 */
export class UsageMeter {
  readonly #ownPrices: Readonly<Record<string, TokenPrice>>;
  readonly #reportsLastCall: boolean;
  /** The calls of the model in the running turn. */
  #calls = 1;
  #ended: Counts = nothing;
  /** The largest context that the running turn has reported, if it is larger than the one at its start. */
  #context = 0;
  /** The last size of the context, and the one at the start of the turn. */
  #size = 0;
  #sizeBefore = 0;
  /** The cost of the conversation before this session; null until its first report. */
  #paidBefore: number | null = 0;
  /** The first report of a continued conversation has come in this turn. */
  #isFirst = false;
  /** In US dollars. */
  #paid = 0;
  #model: string | null = null;

  /** With a price of its own in the workflow file, the cost of a model follows that price. */
  constructor(ownPrices: Readonly<Record<string, TokenPrice>>, reportsLastCall: boolean) {
    this.#ownPrices = ownPrices;
    this.#reportsLastCall = reportsLastCall;
  }

  /**
   * A continued conversation reports the cost of its earlier sessions too. Its first report is where this session
   * starts; the turn before that report costs what the known prices say.
   */
  resume(): void {
    this.#paidBefore = null;
  }

  setModel(model: string | null): void {
    this.#model = model ?? this.#model;
  }

  /** The model is called once more in this turn. */
  nextCall(): void {
    this.#calls += 1;
  }

  /** A sub-agent with a session of its own reports each call of its model: what the call has read and written. */
  helperCall(usage: Fields): TokenUsage {
    this.#ended = sum(this.#ended, { ...nothing, input: count(usage.used) });
    return this.#session();
  }

  /** Null when the update says nothing new. */
  progress(usage: Fields): TokenUsage | null {
    const { amount, currency } = fieldsOf(usage.cost);
    const reported = (textOf(currency) ?? 'USD') === 'USD' ? (numberOf(amount) ?? 0) : 0;
    const paid = reported > 0 && reported < mostTokens ? reported : 0;
    this.#size = count(usage.used) || this.#size;
    // An agent also repeats the size of the last turn, for example with an error.
    const context = this.#size > this.#sizeBefore ? this.#size : 0;
    if (context <= this.#context && paid <= this.#paid + (this.#paidBefore ?? 0)) return null;
    this.#context = Math.max(this.#context, context);
    if (paid > 0 && this.#paidBefore === null) {
      this.#paidBefore = paid;
      this.#isFirst = true;
    }
    this.#paid = Math.max(this.#paid, paid - (this.#paidBefore ?? 0));
    return this.#session();
  }

  /** A turn has ended with this answer. Null where the agent does not say what it used. */
  endTurn(answer: Fields): TokenUsage | null {
    const rows = modelRows(answer);
    const last = rows.length > 0 ? rows.map(({ counts }) => counts).reduce(sum) : countsOf(fieldsOf(answer.usage));
    const isKnown = last.input + last.output > 0;
    const exact = this.#reportsLastCall ? times(last, this.#calls) : last;
    // Of an interrupted turn nothing is reported: each call before the last one has read the context at least.
    if (!isKnown && this.#reportsLastCall)
      this.#context = Math.max(this.#context, this.#sizeBefore * (this.#calls - 1));
    this.#calls = 1;
    this.#sizeBefore = this.#size;
    if (!isKnown && this.#context === 0) return null;
    this.#ended = sum(this.#ended, isKnown ? exact : { ...nothing, input: this.#context });
    this.#context = 0;
    this.setModel(rows.toSorted((a, b) => b.counts.input - a.counts.input)[0]?.model ?? null);
    if (this.#isFirst) {
      this.#isFirst = false;
      const estimate = costOf(rows);
      this.#paid += estimate;
      this.#paidBefore = (this.#paidBefore ?? 0) - estimate;
    }
    return this.#session();
  }

  #session(): TokenUsage {
    const { input, cached, output, reasoning } = this.#ended;
    const isPriced =
      Object.hasOwn(this.#ownPrices, '*') || (this.#model !== null && Object.hasOwn(this.#ownPrices, this.#model));
    return {
      inputTokens: input,
      cachedInputTokens: cached,
      outputTokens: output,
      reasoningTokens: reasoning,
      totalTokens: input + output + this.#context,
      // A cost of nothing means that the agent does not know the price of its model.
      ...(isPriced || this.#paid === 0 ? {} : { costMicroUsd: Math.round(this.#paid * 1e6) }),
      ...(this.#model === null ? {} : { model: this.#model }),
    };
  }
}

/** The tokens of a turn by model, with those of sub-agents, as two of the known programs report them. */
function modelRows(answer: Fields): readonly { readonly model: string; readonly counts: Counts }[] {
  return listOf(fieldsOf(fieldsOf(answer._meta).quota).model_usage)
    .map(fieldsOf)
    .flatMap(({ model, token_count: counted }) => {
      const tokens = fieldsOf(counted);
      const counts = countsOf({
        ...tokens,
        cachedReadTokens: tokens.cachedInputTokens,
        cachedWriteTokens: tokens.cacheWriteInputTokens ?? tokens.cachedWriteTokens,
        thoughtTokens: tokens.reasoningOutputTokens,
      });
      return textOf(model) === null ? [] : [{ model: textOf(model) ?? '', counts }];
    });
}

/** In US dollars, by the known prices. */
function costOf(rows: ReturnType<typeof modelRows>): number {
  let paid = nothingPaid;
  for (const { model, counts } of rows) {
    const tokens = { inputTokens: counts.input, cachedInputTokens: counts.cached, outputTokens: counts.output };
    paid = costWith(paid, tokens, {}, model);
  }
  return paid.microUsd / 1e6;
}

function sum(a: Counts, b: Counts): Counts {
  return {
    input: a.input + b.input,
    cached: a.cached + b.cached,
    output: a.output + b.output,
    reasoning: a.reasoning + b.reasoning,
  };
}

function times({ input, cached, output, reasoning }: Counts, calls: number): Counts {
  return { input: input * calls, cached: cached * calls, output: output * calls, reasoning: reasoning * calls };
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
