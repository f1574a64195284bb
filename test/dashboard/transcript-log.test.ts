import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EventSource, type LogListener, openTranscript } from '../../dashboard/data/run/transcript-log.ts';
import { mergeEvents } from '../../dashboard/data/run/transcript-merge.ts';
import type { RunEvent } from '../../src/client/schema/run.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { runs } from '../property-runs.ts';

const event = (seq: number, payload?: unknown): RunEvent => ({
  seq,
  at: '2026-01-01T00:00:00.000Z',
  event: 'notification',
  message: `event ${seq}`,
  ...(payload === undefined ? {} : { payload }),
});

/** A run whose events are written some time after they are streamed, and streamed only to a connected page. */
function fakeRun({ count, pageSize, isWhole }: { count: number; pageSize: number; isWhole: boolean }) {
  let happened = count;
  let written = count;
  let isAway = false;
  let told: LogListener | null = null;
  const waiting = new Set<() => void>();
  const source: EventSource<string> = {
    isWhole,
    page: async ({ after, isBackwards = false }) => {
      if (isAway) return { problem: 'away' };
      const all = Array.from({ length: written }, (_, index) => event(index + 1, isWhole ? { index } : undefined));
      const side = all.filter(({ seq }) => (isBackwards ? seq < (after ?? written + 1) : seq > (after ?? 0)));
      const events = isBackwards ? side.slice(-pageSize) : side.slice(0, pageSize);
      const end = isBackwards ? events[0] : events.at(-1);
      return { value: { events, after: end?.seq ?? after ?? 0, has_more: side.length > pageSize } };
    },
    listen: (listener) => {
      told = listener;
      return () => {
        told = null;
      };
    },
    later: (_ms, act) => {
      waiting.add(act);
      return () => waiting.delete(act);
    },
  };
  return {
    source,
    happens: (more: number, isHeard: boolean) => {
      const events = Array.from({ length: more }, (_, index) => event(happened + index + 1));
      happened += more;
      if (isHeard) told?.events(events, happened);
    },
    /** The stream says how far the run has come. */
    connects: () => {
      told?.connected();
      told?.events([], happened);
    },
    goesAway: (now: boolean) => {
      isAway = now;
    },
    isHeard: () => told !== null,
    write: () => {
      written = happened;
    },
    /** The wait of the page before a read is over, whether or not anything was written. */
    timePasses: () => {
      const all = [...waiting];
      waiting.clear();
      for (const act of all) act();
    },
    count: () => happened,
  };
}

const laterOn = (clock: SimulatedClock) => (ms: number, act: () => void) => {
  const timer = clock.schedule(ms, act);
  return () => timer.cancel();
};

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
const seqs = (events: readonly RunEvent[]): number[] => events.map(({ seq }) => seq);
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);

type Step = { readonly happens: number; readonly isHeard: boolean } | 'written' | 'waited' | 'earlier' | 'settled';
/** The last step: the stream reconnects, sends one more event, or does nothing. */
type End = 'connects' | 'hears' | 'nothing';

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ happens: fc.integer({ min: 1, max: 8 }), isHeard: fc.boolean() }),
  fc.constantFrom<Step>('written', 'waited', 'earlier', 'settled'),
);

async function goesThrough(drawn: readonly Step[], end: End, isWhole: boolean, count: number): Promise<void> {
  const run = fakeRun({ count, pageSize: 5, isWhole });
  const log = openTranscript({ source: run.source, start: 'end', most: 1_000 });
  // An event that was never streamed is unknown, unless another one comes after it.
  const steps = drawn.map((each) =>
    typeof each === 'object' && end === 'nothing' ? { ...each, isHeard: true } : each,
  );
  const acts = { written: run.write, waited: run.timePasses, earlier: () => void log.readEarlier(), settled };
  for (const each of steps) {
    if (typeof each === 'object') run.happens(each.happens, each.isHeard);
    else await acts[each]();
  }
  if (end === 'connects') run.connects();
  if (end === 'hears') run.happens(1, true);
  // A page that was read before its events were written is read again.
  for (let round = 0; round < 4; round += 1) {
    await settled();
    run.timePasses();
    if (round === 1) run.write();
  }
  await settled();
  const known = seqs(log.events.peek());
  const isEachWhole = log.events.peek().every(({ payload }) => payload !== undefined);
  expect(known).toEqual(run.count() === 0 ? [] : range(known[0] ?? 0, run.count()));
  expect([log.hasLater.peek(), log.hasEarlier.peek()]).toEqual([false, (known[0] ?? 1) > 1]);
  expect(isEachWhole).toBe(isWhole || known.length === 0);
  log.close();
}

describe('the events of a run that a page shows', () => {
  it('include an event streamed while a page was loading, however late it is written', async () => {
    const run = fakeRun({ count: 1, pageSize: 5, isWhole: false });
    const log = openTranscript({ source: run.source, start: 'end', most: 100 });
    run.happens(1, true);
    await settled();
    run.timePasses();
    await settled();
    expect(seqs(log.events.peek())).toEqual([1]);
    run.write();
    run.timePasses();
    await settled();
    expect(seqs(log.events.peek())).toEqual([1, 2]);
  });

  // @conforms dashboard.14
  it('have no gap and reach the end, whatever the stream sent or omitted', async () => {
    const end = fc.constantFrom<End>('connects', 'hears', 'nothing');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), end, fc.boolean(), fc.nat({ max: 30 }), goesThrough),
      { numRuns: runs(300) },
    );
  });

  it('include an event from before the stream connected that was written after the page was read', async () => {
    const run = fakeRun({ count: 1, pageSize: 5, isWhole: true });
    const log = openTranscript({ source: run.source, start: 'end', most: 100 });
    run.happens(1, false);
    await settled();
    run.connects();
    run.timePasses();
    await settled();
    run.write();
    run.timePasses();
    await settled();
    expect(seqs(log.events.peek())).toEqual([1, 2]);
  });

  it.each([false, true])(
    'follow a busy run closely, however late its events are written; whole: %s',
    async (isWhole) => {
      const clock = new SimulatedClock();
      const run = fakeRun({ count: 5, pageSize: 1_000, isWhole });
      const log = openTranscript({ source: { ...run.source, later: laterOn(clock) }, start: 'end', most: 10_000 });
      const eventsASecond = 10;
      for (let tick = 1; tick <= 30 * eventsASecond; tick += 1) {
        run.happens(1, true);
        await clock.advance(1_000 / eventsASecond);
        await settled();
        // Events are written every half a second.
        if (tick % 5 === 0) run.write();
        const known = log.events.peek().findLast(({ payload }) => !isWhole || payload !== undefined)?.seq ?? 0;
        if (tick > 2 * eventsASecond) expect(run.count() - known).toBeLessThanOrEqual(2 * eventsASecond);
      }
      log.close();
    },
  );

  it('are no longer requested after a while if they are never written', async () => {
    const clock = new SimulatedClock();
    const run = fakeRun({ count: 2, pageSize: 5, isWhole: true });
    let pages = 0;
    const page: EventSource<string>['page'] = (...asked) => {
      pages += 1;
      return run.source.page(...asked);
    };
    const log = openTranscript({ source: { ...run.source, page, later: laterOn(clock) }, start: 'end', most: 100 });
    await settled();
    run.happens(1, true);
    for (let second = 0; second < 600; second += 1) {
      await clock.advance(1_000);
      await settled();
    }
    expect(pages).toBeLessThan(12);
    log.close();
  });

  // @conforms dashboard.15
  it('can be read back to the beginning, page by page', async () => {
    const run = fakeRun({ count: 23, pageSize: 5, isWhole: true });
    const log = openTranscript({ source: run.source, start: 'end', most: 1_000 });
    await settled();
    expect(seqs(log.events.peek())).toEqual(range(19, 23));
    while (log.hasEarlier.peek()) await log.readEarlier();
    expect(seqs(log.events.peek())).toEqual(range(1, 23));
  });

  it('stay bounded when reading back: the newest are dropped and not mixed with new ones', async () => {
    const run = fakeRun({ count: 40, pageSize: 5, isWhole: true });
    const log = openTranscript({ source: run.source, start: 'end', most: 12 });
    await settled();
    while (log.hasEarlier.peek()) await log.readEarlier();
    run.happens(3, true);
    run.connects();
    run.write();
    run.timePasses();
    await settled();
    expect(seqs(log.events.peek())).toEqual(range(1, 12));
    expect(log.hasLater.peek()).toBe(true);
    await log.openAt('end');
    expect(seqs(log.events.peek())).toEqual(range(39, 43));
    expect(log.hasLater.peek()).toBe(false);
  });

  it('stay bounded while following: the oldest are dropped', async () => {
    const run = fakeRun({ count: 10, pageSize: 20, isWhole: false });
    const log = openTranscript({ source: run.source, start: 'end', most: 12 });
    await settled();
    for (let each = 0; each < 9; each += 1) run.happens(1, true);
    expect(seqs(log.events.peek())).toEqual(range(8, 19));
    expect(log.hasEarlier.peek()).toBe(true);
  });

  it('stay when the daemon does not answer, and the reason is shown', async () => {
    const run = fakeRun({ count: 9, pageSize: 5, isWhole: true });
    const log = openTranscript({ source: run.source, start: 'end', most: 100 });
    await settled();
    run.goesAway(true);
    await log.readEarlier();
    expect([seqs(log.events.peek()), log.problem.peek(), log.hasEarlier.peek()]).toEqual([range(5, 9), 'away', true]);
    run.goesAway(false);
    await log.readEarlier();
    expect([seqs(log.events.peek()), log.problem.peek()]).toEqual([range(1, 9), null]);
  });

  it('stop listening when the page is closed', async () => {
    const run = fakeRun({ count: 3, pageSize: 5, isWhole: true });
    const log = openTranscript({ source: run.source, start: 'end', most: 100 });
    log.close();
    await settled();
    expect([run.isHeard(), log.events.peek()]).toEqual([false, []]);
  });
});

describe('merging events', () => {
  const some = fc.array(fc.tuple(fc.integer({ min: 1, max: 20 }), fc.boolean()), { maxLength: 20 });
  const made = (drawn: readonly (readonly [number, boolean])[]): RunEvent[] =>
    drawn.map(([seq, isWhole]) => event(seq, isWhole ? 'whole' : undefined));

  it('keeps each number once, in order, and prefers the whole event', () => {
    fc.assert(
      fc.property(some, some, (left, right) => {
        const merged = mergeEvents(mergeEvents([], made(left)), made(right));
        const all = [...left, ...right];
        expect(seqs(merged)).toEqual([...new Set(all.map(([seq]) => seq))].sort((a, b) => a - b));
        for (const { seq, payload } of merged)
          expect(payload !== undefined).toBe(all.some(([each, isWhole]) => each === seq && isWhole));
      }),
    );
  });

  it('returns the same list if nothing is new, so that nothing is drawn again', () => {
    const known = mergeEvents([], [event(1, 'whole'), event(2)]);
    expect(mergeEvents(known, [event(1), event(2)])).toBe(known);
  });
});
