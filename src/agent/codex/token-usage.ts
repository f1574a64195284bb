import type { TokenUsage } from '../agent.ts';
import { type Fields, fieldsOf, firstOf, numberOf, textOf } from './fields.ts';

/**
 * How many tokens a session has used (1.11 of the reference). Codex tells totals of a thread, again and again, and on a
 * resumed thread they begin with what earlier sessions used. What must hold: totals told here are of this session alone,
 * never fall, and are read only from absolute totals, never summed from the parts that Codex tells besides. Threads of
 * helpers that Codex starts itself count too.
 */
export class TokenMeter {
  readonly #threads = new Map<string, ThreadTotals>();
  readonly #turns = new Set<string>();
  #resumed: string | null = null;
  #isWorking = false;
  #hasTotals = false;
  model: string | null = null;

  /** Totals of this thread count from what it had before; null: there is none. */
  resume(threadId: string | null): void {
    this.#resumed = threadId;
  }

  /** A turn of this session began, by its id where it is known. */
  beginTurn(turnId: string | null): void {
    this.#isWorking = true;
    if (turnId !== null) this.#turns.add(turnId);
  }

  /** The totals of the session after this frame, or null when it tells none. */
  read(method: string, params: Fields, whole: Fields): TokenUsage | null {
    const found = absoluteTotals(params, whole);
    const counts = found?.total ?? (this.#hasTotals ? null : endTotals(method, params, whole));
    if (counts === null) return null;
    this.#hasTotals ||= found !== null;
    const thread = textOf(firstOf(params, 'threadId', 'conversationId')) ?? this.#resumed ?? '';
    const known = this.#threads.get(thread);
    if (known === undefined) {
      const before = thread === this.#resumed ? this.#before(counts, found?.last ?? null, params) : nothing;
      this.#threads.set(thread, { before, high: higher(before, counts) });
      // Told again, not used.
      if (before === counts) return null;
    } else {
      known.high = higher(known.high, counts);
    }
    return this.#session();
  }

  /** What a resumed thread had used before this session, judged by the first totals heard of it. */
  #before(total: Counts, last: Counts | null, params: Fields): Counts {
    const turnId = textOf(params.turnId);
    const isOurs = turnId === null ? this.#isWorking : this.#turns.has(turnId);
    // Told again before any turn, or the first call of ours; where the call itself is not told, less is better than twice.
    return isOurs && last !== null ? difference(total, last) : total;
  }

  #session(): TokenUsage {
    const used = [...this.#threads.values()].map(({ before, high }) => difference(high, before)).reduce(sum, nothing);
    return {
      inputTokens: used.input,
      cachedInputTokens: used.cached,
      outputTokens: used.output,
      reasoningTokens: used.reasoning,
      totalTokens: used.total,
      ...(this.model === null ? {} : { model: this.model }),
    };
  }
}

interface ThreadTotals {
  readonly before: Counts;
  high: Counts;
}

interface Counts {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly reasoning: number;
  readonly total: number;
}

const nothing: Counts = { input: 0, cached: 0, output: 0, reasoning: 0, total: 0 };

/** The places where Codex, old and new, tells totals of the thread; parts beside them are left. */
function absoluteTotals(params: Fields, whole: Fields): { total: Counts; last: Counts | null } | null {
  const message = fieldsOf(params.msg);
  const places = [
    fieldsOf(fieldsOf(message.payload).info),
    fieldsOf(message.info),
    fieldsOf(params.tokenUsage),
    fieldsOf(whole.tokenUsage),
  ];
  for (const place of places) {
    const total = countsOf(firstOf(place, 'total_token_usage', 'total'));
    if (total !== null) return { total, last: countsOf(firstOf(place, 'last_token_usage', 'last')) };
  }
  return null;
}

/** What the end of a turn tells, where nothing else ever did (row K7). */
function endTotals(method: string, params: Fields, whole: Fields): Counts | null {
  if (method !== 'turn/completed') return null;
  return countsOf(params.usage) ?? countsOf(whole.usage) ?? countsOf(fieldsOf(params.turn).usage);
}

function countsOf(value: unknown): Counts | null {
  const fields = fieldsOf(value);
  const count = (...names: string[]): number | null => {
    const number = numberOf(firstOf(fields, ...names));
    return number !== null && number >= 0 ? Math.floor(number) : null;
  };
  const input = count('inputTokens', 'input_tokens', 'promptTokens', 'prompt_tokens');
  const output = count('outputTokens', 'output_tokens', 'completionTokens', 'completion_tokens');
  const total = count('totalTokens', 'total_tokens', 'total');
  if (input === null && output === null && total === null) return null;
  return {
    input: input ?? 0,
    cached: count('cachedInputTokens', 'cached_input_tokens') ?? 0,
    output: output ?? 0,
    reasoning: count('reasoningOutputTokens', 'reasoning_output_tokens') ?? 0,
    total: total ?? (input ?? 0) + (output ?? 0),
  };
}

const names = ['input', 'cached', 'output', 'reasoning', 'total'] as const satisfies readonly (keyof Counts)[];

function combine(a: Counts, b: Counts, rule: (a: number, b: number) => number): Counts {
  const combined = { ...nothing } as { -readonly [name in keyof Counts]: number };
  for (const name of names) combined[name] = rule(a[name], b[name]);
  return combined;
}

const higher = (a: Counts, b: Counts): Counts => combine(a, b, Math.max);
const sum = (a: Counts, b: Counts): Counts => combine(a, b, (x, y) => x + y);
const difference = (a: Counts, b: Counts): Counts => combine(a, b, (x, y) => Math.max(0, x - y));
