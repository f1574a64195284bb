import { BatonError } from '../../src/core/baton-error.ts';
import { seededChance } from '../fake/seeded-chance.ts';
import { mutate } from './mutate.ts';

/** A parser that sees bytes of others. `run` may throw a BatonError, and nothing else. */
export interface FuzzTarget {
  readonly name: string;
  readonly corpus: readonly (string | Buffer)[];
  /** Its part of all inputs, in relation to the others. */
  readonly share: number;
  run(input: Buffer): unknown;
}

export interface FuzzResult {
  readonly target: string;
  readonly inputs: number;
  /** How many the parser took without a refusal. */
  readonly taken: number;
  readonly refusals: ReadonlyMap<string, number>;
  readonly slowestMs: number;
  readonly mostGrownMiB: number;
}

/** Of processor time, for one input. Far more than any takes, so that a loaded machine fails no test. */
const mostCpuMs = 2_000;
/** For an input that waits for something; a parser that never answers fails here. */
const mostWaitMs = 60_000;
/** How much one input may add to the memory of the process, garbage included. */
const mostGrownBytes = 512 * 1_024 * 1_024;

/**
 * Feeds `inputs` changed copies of the corpus to a target. Every input follows from its number alone, so that `from` with
 * one input repeats it. Throws at the first input that crashes the target, or takes too long or too much memory.
 */
export async function fuzz(target: FuzzTarget, from: number, inputs: number): Promise<FuzzResult> {
  const corpus = target.corpus.map((each) => Buffer.from(each));
  const refusals = new Map<string, number>();
  let [taken, slowestMs, mostGrown] = [0, 0, 0];
  for (let number = from; number < from + inputs; number += 1) {
    const input = inputOf(corpus, number);
    const fail = (what: string, cause?: unknown): never => {
      const again = `npm run fuzz -- --target ${target.name} --from ${number} --inputs 1`;
      throw new Error(
        `${target.name}: ${what}\nagain: ${again}\ninput: ${JSON.stringify(input.toString('latin1').slice(0, 2_000))}`,
        { cause },
      );
    };
    const rss = process.memoryUsage.rss();
    const cpu = process.cpuUsage();
    try {
      await answered(target.run(input));
      taken += 1;
    } catch (thrown) {
      if (!(thrown instanceof BatonError)) fail(`an input ended in ${String(thrown)}`, thrown);
      else refusals.set(thrown.code, (refusals.get(thrown.code) ?? 0) + 1);
    }
    const { user, system } = process.cpuUsage(cpu);
    const tookMs = (user + system) / 1_000;
    const grown = process.memoryUsage.rss() - rss;
    slowestMs = Math.max(slowestMs, tookMs);
    mostGrown = Math.max(mostGrown, grown);
    if (tookMs > mostCpuMs) fail(`an input took ${tookMs} ms`);
    if (grown > mostGrownBytes) fail(`an input took ${grown} bytes`);
  }
  return { target: target.name, inputs, taken, refusals, slowestMs, mostGrownMiB: mostGrown / 1_024 / 1_024 };
}

/** A refusal of one read; the next is tried all the same. */
export function expectCatalogued(thrown: unknown): void {
  if (!(thrown instanceof Error && thrown.name === 'BatonError')) throw thrown;
}

function inputOf(corpus: readonly Buffer[], number: number): Buffer {
  // Neighbouring seeds of this generator are alike: the number is spread over all bits.
  const chance = seededChance(Math.imul(number + 1, 0x9e3779b1));
  const draw = (): Buffer => corpus[Math.floor(chance.next() * corpus.length)] ?? Buffer.alloc(0);
  return mutate(draw(), draw(), chance);
}

async function answered(work: unknown): Promise<void> {
  if (!(work instanceof Promise)) return;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer in ${mostWaitMs} ms`)), mostWaitMs);
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
