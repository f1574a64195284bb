import type { TokenUsage } from '../../agent.ts';
import { type Fields, fieldsOf, firstOf, numberOf, textOf } from '../../wire/fields.ts';

/** More than any session can use: a higher count is an error, and must not use up the limit of a day. */
const mostTokens = 1e12;
/** Bounds the memory when an agent invents threads. */
const mostThreads = 1_000;

/**
 * How many tokens a session has used (1.11 of the reference). Codex reports totals of a thread repeatedly, and the
 * totals of a thread that is older than the session include its earlier usage. What must hold: totals returned here
 * cover this session alone, never decrease, and come only from absolute totals, never from adding up the partial counts
 * that Codex also reports. Threads of helpers that Codex starts itself count too. The cost of one report does not
 * depend on the number of threads.
 */
export class TokenMeter {
  /** The highest totals of each thread, the most recently reported thread last. */
  readonly #threads = new Map<string, Counts>();
  readonly #turns = new Set<string>();
  #used = nothing;
  #resumed: string | null = null;
  #isWorking = false;
  #hasTotals = false;
  model: string | null = null;
  /** The thread of the session itself, once it is known; the others belong to helpers. */
  main: string | null = null;

  /** Totals of this thread count from its earlier usage; null means that no thread was resumed. */
  resume(threadId: string | null): void {
    this.#resumed = threadId;
  }

  /** A turn of this session began; its id where it is known. */
  beginTurn(turnId: string | null): void {
    this.#isWorking = true;
    // Turn ids only help to judge the first totals of a resumed thread.
    const isJudged = this.#resumed !== null && !this.#threads.has(this.#resumed);
    if (turnId !== null && isJudged) this.#turns.add(turnId);
  }

  /** Returns the totals of the session after this frame, or null when the frame has none. */
  read(method: string, params: Fields, whole: Fields): TokenUsage | null {
    const found = absoluteTotals(params, whole);
    const counts = found?.total ?? (this.#hasTotals ? null : endTotals(method, params, whole));
    if (counts === null) return null;
    this.#hasTotals ||= found !== null;
    // Older versions do not name the thread: then it is that of the session.
    const thread = textOf(firstOf(params, 'threadId', 'conversationId')) ?? this.main ?? this.#resumed ?? '';
    const known = this.#threads.get(thread);
    const high = known ?? this.#before(thread, counts, found?.last ?? null, params);
    const next = higher(high, counts);
    this.#used = sum(this.#used, difference(next, high));
    this.#keep(thread, next);
    // Codex repeated earlier usage; this session used nothing.
    return known === undefined && high === counts ? null : this.#session();
  }

  /** The usage of a forgotten helper stays counted; if it is reported again, it counts from its last call on. */
  #keep(thread: string, high: Counts): void {
    this.#threads.delete(thread);
    this.#threads.set(thread, high);
    for (const oldest of this.#threads.keys()) {
      if (this.#threads.size <= mostThreads) return;
      if (oldest !== '' && oldest !== this.main && oldest !== this.#resumed) this.#threads.delete(oldest);
    }
  }

  /**
   * What a thread had used before this session, judged by its first reported totals. The session's own thread starts at
   * nothing, unless it was resumed; a helper's thread may be older, and counts from its first call here.
   */
  #before(thread: string, total: Counts, last: Counts | null, params: Fields): Counts {
    if (thread !== this.#resumed) {
      const isHelper = this.main !== null && thread !== this.main;
      return isHelper && last !== null ? difference(total, last) : nothing;
    }
    const turnId = textOf(params.turnId);
    const isOurs = turnId === null ? this.#isWorking : this.#turns.has(turnId);
    // Either a repeat before any turn, or the first call of this session. Without the size of that call, counting too
    // little is better than counting twice.
    return isOurs && last !== null ? difference(total, last) : total;
  }

  #session(): TokenUsage {
    const { input, cached, output, reasoning, total } = this.#used;
    return {
      inputTokens: input,
      cachedInputTokens: cached,
      outputTokens: output,
      reasoningTokens: reasoning,
      totalTokens: total,
      ...(this.model === null ? {} : { model: this.model }),
    };
  }
}

interface Counts {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly reasoning: number;
  readonly total: number;
}

const nothing: Counts = { input: 0, cached: 0, output: 0, reasoning: 0, total: 0 };

/** Reads totals of the thread from all places where old and new versions of Codex put them; ignores partial counts. */
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

/** The totals at the end of a turn, used when no other frame reported totals (row K7). */
function endTotals(method: string, params: Fields, whole: Fields): Counts | null {
  if (method !== 'turn/completed') return null;
  return countsOf(params.usage) ?? countsOf(whole.usage) ?? countsOf(fieldsOf(params.turn).usage);
}

function countsOf(value: unknown): Counts | null {
  const fields = fieldsOf(value);
  const count = (...names: string[]): number | null => {
    const number = numberOf(firstOf(fields, ...names));
    return number !== null && Number.isSafeInteger(number) && number >= 0 && number < mostTokens ? number : null;
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
