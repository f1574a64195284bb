import { Drop, type FilterImplOptions, type Liquid } from 'liquidjs';
import { fence, fenceState, withoutFence } from '../../core/text/fence.ts';

/**
 * Text of an untrusted author inside a template. What must hold: every conversion to text returns it fenced, and the result of a
 * filter is fenced text again. A template may compare it and read its size as if it were plain.
 */
export class FencedText {
  readonly #text: string;
  readonly #mark: string;

  constructor(text: string, mark: string) {
    this.#text = text;
    this.#mark = mark;
  }

  /** The text without its fence: for filters, whose result is fenced again. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return fence(this.#text, this.#mark);
  }

  toJSON(): string {
    return this.toString();
  }

  // The members below are how Liquid reads text: `size`, `contains`, `for`, and the comparisons.

  get size(): number {
    return this.#text.length;
  }

  indexOf(part: unknown): number {
    return this.#text.indexOf(String(revealed(part)));
  }

  *[Symbol.iterator](): Iterator<FencedText> {
    if (this.#text !== '') yield this;
  }

  equals(other: unknown): boolean {
    // `blank` and `empty` define their own equality.
    if (other instanceof Drop && 'equals' in other && typeof other.equals === 'function') {
      return other.equals(this.#text) === true;
    }
    return this.#text === revealed(other);
  }

  gt(other: unknown): boolean {
    return this.#text > String(revealed(other));
  }

  geq(other: unknown): boolean {
    return this.#text >= String(revealed(other));
  }

  lt(other: unknown): boolean {
    return this.#text < String(revealed(other));
  }

  leq(other: unknown): boolean {
    return this.#text <= String(revealed(other));
  }
}

/**
 * Makes every filter keep the fence: it works on the text inside, and its result is fenced as a whole. Text that a
 * template captured already contains its fence; `markOf` returns the mark that identifies it.
 */
export function keepFences(liquid: Liquid, markOf: (context: object) => string | null): void {
  for (const [name, filter] of Object.entries(liquid.filters)) {
    const { handler, raw } = typeof filter === 'function' ? { handler: filter, raw: false } : filter;
    liquid.registerFilter(name, { handler: keepingFence(handler, raw, markOf), raw } satisfies FilterImplOptions);
  }
}

type FilterHandler = Exclude<FilterImplOptions, { readonly handler: unknown }>;

function keepingFence(
  handler: FilterHandler | undefined,
  raw: boolean,
  markOf: (context: object) => string | null,
): FilterHandler {
  return function (value: unknown, ...args: unknown[]): unknown {
    const apply = (first: unknown, rest: readonly unknown[]): unknown =>
      handler === undefined ? first : handler.apply(this, [first, ...rest]);
    const mark = markOf(this.context);
    const isFenced = mark !== null && [value, ...args].some((each) => hasFence(each, mark));
    if (!isFenced) return apply(value, args);
    const bare = (each: unknown): unknown => withoutFences(each, mark);
    // The library writes raw results unchanged, so they must be fenced text already.
    const again = (result: unknown): unknown => (raw ? String(fenced(result, mark)) : fenced(result, mark));
    const result = apply(bare(value), args.map(bare));
    return isGenerator(result) ? finish(result, again) : again(result);
  };
}

function* finish(
  steps: Generator<unknown, unknown, unknown>,
  again: (result: unknown) => unknown,
): Generator<unknown, unknown, unknown> {
  return again(yield* steps);
}

function isGenerator(value: unknown): value is Generator<unknown, unknown, unknown> {
  return typeof value === 'object' && value !== null && 'next' in value && 'throw' in value && 'return' in value;
}

function revealed(value: unknown): unknown {
  return value instanceof FencedText ? value.reveal() : value;
}

function hasFence(value: unknown, mark: string): boolean {
  if (value instanceof FencedText) return true;
  if (typeof value === 'string') return fenceState(value, mark) !== 'none';
  if (Array.isArray(value)) return value.some((each) => hasFence(each, mark));
  return isRecord(value) && Object.values(value).some((each) => hasFence(each, mark));
}

function withoutFences(value: unknown, mark: string): unknown {
  if (value instanceof FencedText) return value.reveal();
  if (typeof value === 'string') return withoutFence(value, mark);
  if (Array.isArray(value)) return value.map((each) => withoutFences(each, mark));
  return isRecord(value) ? mapRecord(value, (each) => withoutFences(each, mark)) : value;
}

function fenced(value: unknown, mark: string): unknown {
  if (typeof value === 'string') return new FencedText(value, mark);
  if (Array.isArray(value)) return value.map((each) => fenced(each, mark));
  return isRecord(value) ? mapRecord(value, (each) => fenced(each, mark)) : value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function mapRecord(record: Record<string, unknown>, change: (value: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}
