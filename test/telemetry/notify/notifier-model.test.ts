import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { NotifyFacts } from '../../../src/core/notify/notify-cause.ts';
import type { Transport } from '../../../src/http/transport.ts';
import type { Notifier } from '../../../src/telemetry/notify/notifier.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';
import { storeThrough } from '../../orchestrator/faulty-store.ts';
import { runs } from '../../property-runs.ts';
import { MemoryStore } from '../../simulation/memory-store.ts';
import { begin, facts, held, webhook } from './notify-scene.ts';

const hosts = ['one.localhost', 'two.localhost'] as const;
type Host = (typeof hosts)[number];
type Weather = 'takes it' | 'is broken' | 'takes it and is cut' | 'hangs';

const minute = 60_000;
// All waits together are less than an hour: what finished before is no news to a life that has just begun.
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('toggle' as const), issue: fc.nat(4) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('finish' as const), issue: fc.nat(4) }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(0, 1, 9_000, minute, 150_000) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('weather' as const),
      host: fc.constantFrom(...hosts),
      weather: fc.constantFrom<Weather[]>('takes it', 'is broken', 'takes it and is cut', 'hangs'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('store' as const), isAway: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('restart' as const, 'kill' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Two receivers, a store and one life of the notifier after the other. */
class World {
  readonly clock = new SimulatedClock({ startAt: Date.UTC(2026, 0, 5, 12) });
  /** By host and cause, the ids under which a 2xx was heard, once each time it was. */
  readonly heard = new Map<string, string[]>();
  /** The same for whatever arrived, heard or not. */
  readonly arrived = new Map<string, string[]>();
  readonly #memory: MemoryStore;
  readonly #weather = new Map<Host, Weather>();
  readonly #present = new Set<number>();
  readonly finished: NotifyFacts['finished'][number][] = [];
  #isAway = false;
  #lives = 0;
  #life: { readonly notifier: Notifier; kill(): void } | null = null;

  constructor(memory: MemoryStore) {
    this.#memory = memory;
    this.#begin();
  }

  static async open(): Promise<World> {
    return new World(await MemoryStore.open(new SimulatedClock(), false));
  }

  async act(what: Step): Promise<void> {
    if (what.do === 'toggle' && !this.#present.delete(what.issue)) this.#present.add(what.issue);
    if (what.do === 'finish') this.#finish(what.issue);
    if (what.do === 'weather') this.#weather.set(what.host, what.weather);
    if (what.do === 'store') this.#isAway = what.isAway;
    if (what.do === 'restart') await this.#life?.notifier.close();
    if (what.do === 'kill') this.#life?.kill();
    if (what.do === 'restart' || what.do === 'kill') this.#begin();
    this.look();
    if (what.do === 'wait') await this.clock.advance(what.ms);
  }

  /** Everything works again, for long enough. */
  async endWell(): Promise<void> {
    this.#isAway = false;
    for (const host of hosts) this.#weather.set(host, 'takes it');
    this.look();
    await this.clock.advance(3 * 60 * minute);
    await this.#life?.notifier.close();
  }

  look(): void {
    this.#life?.notifier.update({
      ...facts(...[...this.#present].map((issue) => held(issue))),
      finished: [...this.finished],
    });
  }

  /** What everybody has to have heard of in the end. */
  mustBeKnown(): string[] {
    return [
      ...[...this.#present].map((issue) => `held i${issue}`),
      ...this.finished.map(({ issue }) => `finished ${issue.id}`),
    ];
  }

  #finish(number: number): void {
    const id = `f${number}-${this.finished.length}`;
    this.finished.push({ issue: { id, identifier: id, title: null, url: null }, state: 'Done', at: this.clock.now() });
  }

  #begin(): void {
    let isKilled = false;
    this.#lives += 1;
    const refuse = (): Promise<never> => Promise.reject(new Error('the store is away'));
    const { notifier } = begin({
      clock: this.clock,
      seed: this.#lives,
      store: storeThrough(this.#memory.store, {
        before: () => (isKilled || this.#isAway ? refuse() : undefined),
        after: () => (isKilled ? refuse() : undefined),
      }),
      transport: this.#transport(() => isKilled),
      notify: { targets: hosts.map((host) => webhook(`http://${host}/hook`)) },
    });
    this.#life = {
      notifier,
      kill: () => {
        isKilled = true;
        void notifier.close();
      },
    };
  }

  #transport(isKilled: () => boolean): Transport {
    return {
      send: async ({ url, body, headers, signal }) => {
        const host = new URL(url).hostname as Host;
        const weather = this.#weather.get(host) ?? 'takes it';
        if (isKilled()) throw new Error('nobody is there any more');
        if (weather === 'is broken') return { status: 500, headers: {}, body: '', bytes: 0 };
        const names = causesOf(body ?? '').map((name) => `${host} ${name}`);
        note(this.arrived, names, headers['baton-delivery'] ?? '');
        if (weather === 'hangs')
          return await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        if (weather === 'takes it and is cut') throw Object.assign(new Error('cut'), { code: 'ECONNRESET' });
        note(this.heard, names, headers['baton-delivery'] ?? '');
        return { status: 200, headers: {}, body: '', bytes: 0 };
      },
      [Symbol.asyncDispose]: async () => {},
    };
  }
}

function causesOf(body: string): string[] {
  const { event, issue, notifications } = JSON.parse(body);
  const all: { readonly event: string; readonly issue: { readonly id: string } }[] =
    event === 'several' ? notifications : [{ event, issue }];
  return all.map((each) => `${each.event} ${each.issue.id}`);
}

function note(book: Map<string, string[]>, names: readonly string[], id: string): void {
  for (const name of names) book.set(name, [...(book.get(name) ?? []), id]);
}

// @conforms notify.4
it('for any sequence of events, sends each cause to each target under one id, and all present causes in the end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 22 }), async (steps) => {
      const world = await World.open();
      for (const each of steps) await world.act(each);
      await world.endWell();
      const hasDied = steps.some((each) => each.do === 'kill' || each.do === 'restart');
      for (const [cause, ids] of world.heard) {
        expect(new Set(ids).size, `${cause} by one id`).toBe(1);
        // Only a life that ended between the answer and its word to the store may be followed by another try.
        if (!hasDied) expect(ids, `${cause} once`).toHaveLength(1);
      }
      for (const [cause, ids] of world.arrived) expect(new Set(ids).size, `${cause} arrives by one id`).toBe(1);
      for (const host of hosts) {
        for (const cause of world.mustBeKnown())
          expect(world.heard.has(`${host} ${cause}`), `${host} ${cause}`).toBe(true);
      }
    }),
    { numRuns: runs(120) },
  );
}, 60_000);
