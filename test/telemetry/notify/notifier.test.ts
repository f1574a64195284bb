import { describe, expect, it } from 'vitest';
import { BatonError } from '../../../src/core/baton-error.ts';
import { type NeedsYouFact, type NotifyFacts, notifyEvents } from '../../../src/core/notify/notify-cause.ts';
import type { NotifySettings } from '../../../src/core/settings.ts';
import { scratchStore } from '../../fake/scratch-store.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';
import { storeThrough } from '../../orchestrator/faulty-store.ts';
import {
  begin,
  dayLimit,
  facts,
  held,
  midDay,
  nobodyNeeded,
  quietly,
  receiver,
  type SceneOptions,
  until,
  webhook,
  wire,
} from './notify-scene.ts';

const minute = 60_000;
const hour = 60 * minute;
const url = 'http://127.0.0.1:9/hook';
const targets = [webhook(url)];
const trouble = held(0, { kind: 'daemon', code: 'no_headroom', issue: null, since: null, runId: null, actions: [] });
const finished = (at: number, number = 1): NotifyFacts['finished'][number] => ({
  issue: { id: `i${number}`, identifier: `SHOP-${number}`, title: null, url: null },
  state: 'Done',
  at,
});

/** A scene whose receiver takes everything, unless it is said otherwise, and what it was told. */
async function told(
  notify: Partial<NotifySettings> = { targets },
  over: Partial<SceneOptions> & { readonly transport?: ReturnType<typeof wire> } = {},
) {
  const clock = over.clock ?? midDay();
  const out = over.transport ?? wire(() => 204);
  const store = over.store ?? (await scratchStore(clock));
  const scene = begin({ ...over, store, notify, clock, transport: out });
  const events = (): string[] => out.bodies.map((body) => JSON.parse(body).event);
  return { ...scene, store, out, events };
}

describe('a restart', () => {
  it('sends nothing again', async () => {
    const first = await told();
    const now = { ...facts(held(1), trouble), finished: [finished(first.clock.now())] };
    first.notifier.update(now);
    await first.clock.advance(2 * minute);
    expect(first.events().toSorted()).toEqual(['finished', 'held', 'unhealthy']);
    await first.notifier.close();
    const second = await told({ targets }, { store: first.store, clock: first.clock, seed: 2 });
    second.notifier.update(now);
    await second.clock.advance(20 * minute);
    expect(second.events()).toEqual([]);
    second.notifier.update(facts(held(1), held(2)));
    await second.clock.advance(minute);
    expect(second.events()).toEqual(['held']);
  });

  it('during a try tries again later with the same id', async () => {
    const there = await receiver();
    there.next.push(() => {});
    const store = await scratchStore(midDay());
    const first = begin({ store, notify: { targets: [webhook(there.url)] } });
    first.notifier.update(facts(held(1)));
    await until(first.clock, () => there.received.length === 1);
    await first.notifier.close();
    const second = begin({ store, notify: { targets: [webhook(there.url)] }, clock: first.clock, seed: 2 });
    second.notifier.update(facts(held(1)));
    await quietly(second.clock);
    expect(there.received).toHaveLength(1);
    await second.clock.advance(2 * minute);
    await until(second.clock, () => there.received.length === 2);
    const [one, two] = there.received.map(({ headers }) => headers['baton-delivery']);
    expect(two).toBe(one);
  });

  it('before a happening was sent still sends it, but no cause that has ended', async () => {
    const clock = midDay();
    const store = await scratchStore(clock);
    const dead = await told({ targets }, { store, clock, transport: wire(() => 500) });
    dead.notifier.update({ ...facts(held(1)), finished: [finished(clock.now())] });
    await clock.advance(minute);
    await dead.notifier.close();
    await clock.advance(3 * hour);
    const next = await told({ targets }, { store, clock, seed: 2 });
    next.notifier.update(nobodyNeeded);
    await clock.advance(minute);
    expect(next.events()).toEqual(['finished']);
  });
});

describe('a recurring cause', () => {
  it('is sent again only after it was gone for five minutes', async () => {
    const { notifier, clock, events } = await told();
    const during = async (now: NotifyFacts, ms: number) => {
      notifier.update(now);
      await clock.advance(ms);
    };
    await during(facts(trouble), 59_000);
    expect(events()).toEqual([]);
    await during(facts(trouble), 2 * minute);
    expect(events()).toEqual(['unhealthy']);
    await during(nobodyNeeded, 2 * minute);
    await during(facts(trouble), 10 * minute);
    expect(events()).toHaveLength(1);
    await during(nobodyNeeded, 6 * minute);
    await during(facts(trouble), 2 * minute);
    expect(events()).toEqual(['unhealthy', 'unhealthy']);
  });

  it('has not ended while the facts are incomplete, as before the first poll', async () => {
    const review = held(3, { kind: 'review', since: null });
    const { notifier, clock, events } = await told();
    notifier.update(facts(review));
    await clock.advance(minute);
    notifier.update({ ...nobodyNeeded, isComplete: false });
    await clock.advance(hour);
    notifier.update(facts(review));
    await clock.advance(minute);
    expect(events()).toEqual(['needs_you']);
    notifier.update(nobodyNeeded);
    await clock.advance(hour);
    notifier.update(facts(review));
    await clock.advance(minute);
    expect(events()).toEqual(['needs_you', 'needs_you']);
  });

  it('is not sent while it is unknown whether it lasts', async () => {
    const answers = [500];
    const out = wire(() => answers.shift() ?? 200);
    const { notifier, clock } = await told({ targets }, { transport: out });
    notifier.update(facts(held(1)));
    await clock.advance(1_000);
    notifier.update({ ...nobodyNeeded, isComplete: false });
    await clock.advance(hour);
    expect(out.bodies).toHaveLength(1);
    notifier.update(facts(held(1)));
    await clock.advance(minute);
    expect(out.bodies).toHaveLength(2);
  });

  it('is not sent when it ends before its turn', async () => {
    const { notifier, clock, out } = await told({ targets }, { transport: wire(() => 500) });
    notifier.update(facts(held(1)));
    await clock.advance(15_000);
    const before = out.bodies.length;
    notifier.update(nobodyNeeded);
    await clock.advance(2 * hour);
    expect(out.bodies.length).toBe(before);
  });

  it('stays recorded as sent for longer than the retention of ended causes', async () => {
    const { notifier, clock, store, events } = await told();
    notifier.update(facts(held(1)));
    for (let day = 0; day < 40; day += 1) {
      await clock.advance(24 * hour);
      notifier.update(facts(held(1)));
      await clock.settle();
    }
    expect(await store.notifications.prune(clock.now() - 30 * 24 * hour, 9)).toBe(0);
    expect(events()).toEqual(['held']);
  });
});

describe('a limit of the day', () => {
  const beforeMidnight = (ms: number) => new SimulatedClock({ startAt: Date.UTC(2026, 0, 6) - ms });
  const on = (clock: SimulatedClock, ...needsYou: readonly NeedsYouFact[]): NotifyFacts => ({
    ...facts(...needsYou),
    at: clock.now(),
  });

  it('is sent once, and again when another allowance is used up', async () => {
    const { notifier, clock, out, events } = await told();
    for (const allowedAfter of [0, 0, 700, 700, 1_400]) {
      notifier.update(on(clock, dayLimit('2026-01-05', allowedAfter)));
      await clock.advance(10 * minute);
      notifier.update(on(clock));
      await clock.advance(10 * minute);
    }
    expect(events()).toEqual(['limit_reached', 'limit_reached', 'limit_reached']);
    expect(JSON.parse(out.bodies[0] ?? '')).toMatchObject({
      issue: null,
      code: 'tokens_per_day',
      actions: ['baton resume'],
    });
  });

  // @conforms notify.16
  it('that waited for the end of quiet hours is not sent for the next day, whose own limit is', async () => {
    const clock = beforeMidnight(minute);
    const quietHours = { fromMinute: 22 * 60, toMinute: 0, timeZone: 'UTC' };
    const { notifier, events } = await told({ targets, quietHours }, { clock });
    notifier.update(on(clock, dayLimit('2026-01-05')));
    await clock.advance(5 * minute);
    expect(events()).toEqual([]);
    notifier.update(on(clock, dayLimit('2026-01-06')));
    await clock.advance(minute);
    expect(events()).toEqual(['limit_reached']);
  });

  it('is tried only during its day, with one id', async () => {
    const clock = beforeMidnight(minute);
    const out = wire(() => 500);
    const { notifier } = await told({ targets }, { clock, transport: out });
    notifier.update(on(clock, dayLimit('2026-01-05')));
    await clock.advance(minute - 1);
    const before = out.bodies.length;
    expect(before).toBeGreaterThan(1);
    await clock.advance(2 * hour);
    expect(out.bodies).toHaveLength(before);
    expect(new Set(out.bodies.map((body) => JSON.parse(body).id)).size).toBe(1);
  });
});

describe('a question', () => {
  const question = (id: string, repeats: string | null = null) =>
    held(1, {
      kind: 'question',
      code: 'input',
      questionId: id,
      repeats,
      runId: `run-of-${id}`,
      actions: ['question_answer'],
    });

  it('that each new run repeats is sent once, over every restart', async () => {
    const first = await told();
    first.notifier.update(facts(question('q1')));
    await first.clock.advance(minute);
    expect(first.events()).toEqual(['needs_you']);
    let { notifier } = first;
    for (const again of ['q2', 'q3']) {
      await notifier.close();
      const next = await told({ targets }, { store: first.store, clock: first.clock, transport: first.out });
      next.notifier.update({ ...nobodyNeeded, isComplete: false });
      await first.clock.advance(minute);
      next.notifier.update(nobodyNeeded);
      await first.clock.advance(hour);
      next.notifier.update(facts(question(again, 'q1')));
      await first.clock.advance(minute);
      notifier = next.notifier;
    }
    expect(first.events()).toEqual(['needs_you']);
    notifier.update(facts(question('q4')));
    await first.clock.advance(minute);
    expect(first.events()).toEqual(['needs_you', 'needs_you']);
  });

  it('that was repeated before its delivery is sent in its current form', async () => {
    const answers = [500];
    const out = wire(() => answers.shift() ?? 200);
    const { notifier, clock } = await told({ targets }, { transport: out });
    notifier.update(facts(question('q1')));
    await clock.advance(1_000);
    notifier.update(nobodyNeeded);
    await clock.advance(minute);
    notifier.update(facts(question('q2', 'q1')));
    await clock.advance(2 * minute);
    expect(out.bodies.map((body) => JSON.parse(body).actions)).toEqual([['baton ask show q1'], ['baton ask show q2']]);
    expect(new Set(out.bodies.map((body) => JSON.parse(body).id)).size).toBe(1);
  });
});

describe('quiet hours', () => {
  // From 11:30 to 13:30 in UTC, and it is 12:00.
  const quietHours = { fromMinute: 690, toMinute: 810, timeZone: 'UTC' };

  // @conforms notify.6
  it('hold everything back; afterwards causes that last are sent, and ended ones are not', async () => {
    const { notifier, clock, events } = await told({ targets, quietHours });
    notifier.update({ ...facts(held(1), held(2), trouble), finished: [finished(clock.now())] });
    await clock.advance(hour);
    notifier.update(facts(held(2), trouble));
    await clock.advance(hour / 2 - 1);
    expect(events()).toEqual([]);
    await clock.advance(minute);
    expect(events().toSorted()).toEqual(['finished', 'held', 'unhealthy']);
  });

  it('let problems of the daemon through when the settings allow it', async () => {
    const { notifier, clock, events } = await told({ targets, quietHours, evenInQuietHours: true });
    notifier.update(facts(held(1), trouble));
    await clock.advance(2 * minute);
    expect(events()).toEqual(['unhealthy']);
    await clock.advance(2 * hour);
    expect(events()).toEqual(['unhealthy', 'held']);
  });

  it('last over a restart, and a retry waits for their end too', async () => {
    const clock = midDay();
    clock.jumpWall(-31 * minute);
    const store = await scratchStore(clock);
    const first = await told({ targets, quietHours }, { store, clock, transport: wire(() => 500) });
    first.notifier.update({ ...nobodyNeeded, finished: [finished(clock.now())] });
    await clock.advance(2 * minute);
    const before = first.out.bodies.length;
    await clock.advance(hour);
    expect(first.out.bodies.length).toBe(before);
    await first.notifier.close();
    const second = await told({ targets, quietHours }, { store, clock, seed: 2 });
    second.notifier.update(nobodyNeeded);
    await clock.advance(30 * minute);
    expect(second.events()).toEqual([]);
    await clock.advance(31 * minute);
    expect(second.events()).toEqual(['finished']);
  });
});

describe('a burst', () => {
  // @conforms notify.7
  it('is one message about all causes, with ten of them in words, sent once', async () => {
    const { notifier, clock, out } = await told();
    const many = Array.from({ length: 25 }, (_, number) => held(number));
    notifier.update(facts(...many));
    await clock.advance(10 * minute);
    expect(out.bodies).toHaveLength(1);
    const body = JSON.parse(out.bodies[0] ?? '');
    expect(body).toMatchObject({ event: 'several', count: 25, more: 15 });
    expect(body.notifications).toHaveLength(10);
  });

  it('that fails is tried again unchanged, without causes that ended meanwhile', async () => {
    const answers = [500, 500];
    const ids: (string | undefined)[] = [];
    const out = wire(({ headers }) => {
      ids.push(headers['baton-delivery']);
      return answers.shift() ?? 200;
    });
    const { notifier, clock } = await told({ targets }, { transport: out });
    notifier.update(facts(...Array.from({ length: 12 }, (_, number) => held(number))));
    await clock.advance(minute / 4);
    notifier.update(facts(...Array.from({ length: 9 }, (_, number) => held(number)), held(50)));
    await clock.advance(5 * minute);
    const counts = out.bodies.map((body) => JSON.parse(body).count ?? 1);
    expect(counts).toEqual([12, 12, 1, 9]);
    expect(new Set([ids[0], ids[1], ids[3]]).size).toBe(1);
    expect(ids[2]).not.toBe(ids[0]);
  });

  it('after ten messages delays the following single ones', async () => {
    const { notifier, clock, out } = await told();
    const all = [];
    for (let number = 0; number < 40; number += 1) {
      all.push(held(number));
      notifier.update(facts(...all));
      await clock.advance(1_000);
    }
    await clock.advance(2 * minute);
    expect(out.bodies.length).toBeLessThanOrEqual(12);
    const causes = out.bodies.map((body) => JSON.parse(body).count ?? 1).reduce((sum, each) => sum + each, 0);
    expect(causes).toBe(40);
  });
});

describe('the store', () => {
  const broken = new BatonError('store_unavailable', 'the store is away');

  it('records a message before it is sent: without the store nothing is sent, and later everything', async () => {
    const clock = midDay();
    let isAway = true;
    const store = storeThrough(await scratchStore(clock), {
      before: () => (isAway ? Promise.reject(broken) : undefined),
    });
    const { notifier, events, logger } = await told({ targets }, { store, clock });
    for (let look = 0; look < 50; look += 1) {
      notifier.update(facts(held(1)));
      await clock.advance(1_000);
    }
    expect(events()).toEqual([]);
    expect(logger.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
    isAway = false;
    await clock.advance(11_000);
    expect(events()).toEqual(['held']);
  });

  it('that is unavailable for hours loses no happening', async () => {
    const clock = midDay();
    let isAway = true;
    const store = storeThrough(await scratchStore(clock), {
      before: () => (isAway ? Promise.reject(broken) : undefined),
    });
    const { notifier, events } = await told({ targets }, { store, clock });
    notifier.update({ ...nobodyNeeded, finished: [finished(clock.now())] });
    await clock.advance(minute);
    notifier.update(nobodyNeeded);
    await clock.advance(3 * hour);
    isAway = false;
    await clock.advance(minute);
    expect(events()).toEqual(['finished']);
  });

  it('that fails to record a sent message gets it again, and no message is sent twice', async () => {
    const clock = midDay();
    let failures = 3;
    const real = await scratchStore(clock);
    const store = storeThrough(real, {
      before: (call) => (call === 'notifications.sent' && failures-- > 0 ? Promise.reject(broken) : undefined),
    });
    const { notifier, events } = await told({ targets }, { store, clock });
    notifier.update(facts(held(1)));
    await clock.advance(1_000);
    notifier.update(nobodyNeeded);
    await clock.advance(5_000);
    notifier.update(facts(held(1)));
    await clock.advance(hour);
    expect(events()).toEqual(['held']);
    expect(await real.notifications.open('shop')).toEqual([]);
  });

  it('shared by two daemons sends each cause once, and the problems of each daemon', async () => {
    const clock = midDay();
    const store = await scratchStore(clock);
    const [one, two] = [
      await told({ targets }, { store, clock, daemon: 'd1' }),
      await told({ targets }, { store, clock, daemon: 'd2', seed: 2 }),
    ];
    for (const { notifier } of [one, two]) notifier.update(facts(held(1, { kind: 'review', since: null }), trouble));
    await clock.advance(3 * minute);
    expect([...one.events(), ...two.events()].toSorted()).toEqual(['needs_you', 'unhealthy', 'unhealthy']);
  });
});

describe('the settings', () => {
  it('decide which target gets which event, also when they change', async () => {
    const { notifier, clock, events, change } = await told({ targets: [webhook(url, ['finished', 'unhealthy'])] });
    notifier.update({ ...facts(held(1)), finished: [finished(clock.now())] });
    await clock.advance(minute);
    expect(events()).toEqual(['finished']);
    change({ targets: [webhook(url, notifyEvents)] });
    notifier.update(facts(held(1)));
    await clock.advance(minute);
    expect(events()).toEqual(['finished', 'held']);
    change({ targets: [] });
    notifier.update(facts(held(1), held(2)));
    await clock.advance(minute);
    expect(events()).toHaveLength(2);
  });

  it('that cannot be read do not break a caller', async () => {
    const explode = (): never => {
      throw new Error('no settings');
    };
    const { notifier, clock, logger } = await told({ targets }, { more: { settings: explode } });
    expect(() => notifier.update(facts(held(1)))).not.toThrow();
    await clock.advance(minute);
    expect(logger.lines.length).toBeGreaterThan(0);
    await notifier.close();
    await notifier.close();
  });
});
