import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Patch } from '../../../src/client/schema/event.ts';
import { type Now, rowLists } from '../../../src/client/schema/now.ts';
import type { ReadModel } from '../../../src/orchestrator/view/read-model.ts';
import { type ApiProject, createApiProjects } from '../../../src/server/api/api-project.ts';
import { presentNow } from '../../../src/server/api/present/present-now.ts';
import { EventStream } from '../../../src/server/api/stream/event-stream.ts';
import { FrameRing } from '../../../src/server/api/stream/frame-ring.ts';
import { issue } from '../../fake/issues.ts';
import { memoryLogger } from '../../fake/memory-logger.ts';
import { seededChance } from '../../fake/seeded-chance.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';
import { begun } from '../../orchestrator/scene.ts';
import { runs } from '../../property-runs.ts';
import { projectOf } from './api-scene.ts';

interface Heard {
  readonly id: string | null;
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: each test checks the part it is about.
  readonly data: any;
}

/** What was sent, event by event. */
function heardIn(text: string): Heard[] {
  return text
    .split('\n\n')
    .map((block) =>
      Object.fromEntries(block.split('\n').map((line) => [line.split(': ')[0], line.slice(line.indexOf(': ') + 2)])),
    )
    .filter((fields) => fields.event !== undefined)
    .map(({ id, event, data }) => ({ id: id ?? null, name: event ?? '', data: JSON.parse(data ?? 'null') }));
}

/** What a listener knows, by the events it heard. */
function stateOf(events: readonly Heard[]): Map<string, Now> {
  let projects = new Map<string, Now>();
  for (const { name, data } of events) {
    if (name === 'snapshot') projects = new Map((data.projects as Now[]).map((now) => [now.project, now]));
    if (name === 'patch') projects.set(data.project, patched(projects.get(data.project) as Now, data as Patch));
  }
  return projects;
}

function patched(now: Now, patch: Patch): Now {
  const next: Record<string, unknown> = { ...now, ...(patch.vitals === undefined ? {} : { vitals: patch.vitals }) };
  for (const list of rowLists) {
    const gone = new Set(patch.drop[list] ?? []);
    const fresh = new Map((patch.set[list] ?? []).map((row) => [row.key, row]));
    const kept = now[list].filter(({ key }) => !gone.has(key) && !fresh.has(key));
    next[list] = [...kept, ...fresh.values()];
  }
  return next as Now;
}

/** Rows in an order that does not depend on when they came. */
function sorted(now: Now | undefined): unknown {
  if (now === undefined) return null;
  const { generated_at: _at, ...rest } = now;
  return {
    ...rest,
    ...Object.fromEntries(rowLists.map((list) => [list, now[list].toSorted((a, b) => (a.key < b.key ? -1 : 1))])),
  };
}

/** It only gives the first model; what changes is the test's. */
let real: ReturnType<typeof begun> | null = null;

async function staged({ isStopping = (): boolean => false } = {}) {
  real ??= begun({ issues: ['1', '2', '3'].map((id) => issue({ id })) });
  const stage = await real;
  const clock = new SimulatedClock();
  const projects = createApiProjects(isStopping);
  let model: ReadModel = stage.orchestrator.read();
  const watchers = new Set<() => void>();
  const project: ApiProject = projectOf(stage, 'test', {
    read: () => model,
    watch: (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  });
  const leave = projects.add(project);
  const stream = new EventStream({ projects, clock, chance: seededChance(1), logger: memoryLogger() });
  const change = (next: Partial<ReadModel>): void => {
    model = { ...model, ...next };
    for (const watcher of watchers) watcher();
  };
  return { stage, clock, stream, projects, leave, change, model: () => model, now: () => presentNow('test', model) };
}

function listener(isSlow = false) {
  const heard: string[] = [];
  let hasEnded = false;
  return {
    heard,
    events: () => heardIn(heard.join('')),
    hasEnded: () => hasEnded,
    send: (text: string) => {
      if (isSlow && heard.length > 0) return false;
      heard.push(text);
      return true;
    },
    end: () => {
      hasEnded = true;
    },
  };
}

const fresh = { lastId: null, runs: new Set<string>() };

describe('the event stream', () => {
  it('sends a snapshot first, then only changes', async () => {
    const { stream, clock, change, model, now } = await staged();
    const one = listener();
    stream.listen(one, fresh);
    change({
      running: model()
        .running.map((run) => ({ ...run, turn: run.turn + 1 }))
        .slice(0, 2),
    });
    await clock.advance(1_000);
    const [snapshot, patch, ...more] = one.events();
    expect(snapshot?.name).toBe('snapshot');
    expect(patch).toMatchObject({ name: 'patch', data: { project: 'test' } });
    expect(patch?.data.set.running).toHaveLength(2);
    expect(patch?.data.drop.running).toHaveLength(1);
    expect(more).toEqual([]);
    expect(sorted(stateOf(one.events()).get('test'))).toEqual(sorted(now()));
  });

  it('sends nothing but keep-alives when nothing changes', async () => {
    const { stream, clock, change } = await staged();
    const one = listener();
    stream.listen(one, fresh);
    change({});
    await clock.advance(20_000);
    expect(one.events()).toHaveLength(1);
    expect(one.heard.at(-1)).toBe(': still here\n\n');
    // Whoever hears nothing for twelve seconds takes it for one that hangs.
    expect(one.heard.filter((text) => text === ': still here\n\n')).toHaveLength(4);
  });

  // @conforms api.1
  it('gives each listener the same state, whenever it connected and however often it was cut off', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            fc.record({
              do: fc.constant('change' as const),
              turns: fc.array(fc.nat(3), { minLength: 0, maxLength: 3 }),
            }),
            fc.record({ do: fc.constant('wait' as const), ms: fc.nat(2_000) }),
            fc.record({ do: fc.constant('cut' as const), who: fc.nat(2) }),
          ),
          { maxLength: 25 },
        ),
        async (steps) => {
          const { stream, clock, change, model, now } = await staged();
          const { running } = model();
          const seats = [0, 1, 2].map(() => ({ events: [] as Heard[], leave: () => {}, live: listener() }));
          const come = (seat: (typeof seats)[number]): void => {
            seat.events = [...seat.events, ...seat.live.events()];
            seat.leave();
            seat.live = listener();
            const lastId = seat.events.findLast(({ id }) => id !== null)?.id ?? null;
            seat.leave = stream.listen(seat.live, { ...fresh, lastId });
          };
          for (const step of steps) {
            if (step.do === 'wait') await clock.advance(step.ms);
            if (step.do === 'cut') come(seats[step.who] as (typeof seats)[number]);
            if (step.do === 'change')
              change({
                running: running.slice(0, step.turns.length).map((run, at) => ({ ...run, turn: step.turns[at] ?? 0 })),
              });
          }
          for (const seat of seats) come(seat);
          await clock.advance(10_000);
          const known = seats.map(({ events, live }) => sorted(stateOf([...events, ...live.events()]).get('test')));
          expect(known).toEqual(seats.map(() => sorted(now())));
          stream.close();
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it('starts again with a snapshot for a listener of a previous daemon, or of too long ago', async () => {
    const { stream } = await staged();
    for (const lastId of ['other-1', '', 'x', '-5', '99999999999999999999-1']) {
      const one = listener();
      stream.listen(one, { ...fresh, lastId });
      expect(one.events().map(({ name }) => name)).toEqual(['snapshot']);
    }
  });

  // @conforms api.4
  it('disconnects a listener that does not read, and the others continue', async () => {
    const { stream, clock, change, model } = await staged();
    const [slow, quick] = [listener(true), listener()];
    stream.listen(slow, fresh);
    stream.listen(quick, fresh);
    change({ running: model().running.slice(0, 1) });
    await clock.advance(1_000);
    expect(slow.hasEnded()).toBe(true);
    expect(quick.events()).toHaveLength(2);
    expect(stream.listeners).toBe(1);
  });

  it('sends small changes often and large ones rarely: no listener gets more than it can read', async () => {
    const { stream, clock, change, model } = await staged();
    const one = listener();
    stream.listen(one, fresh);
    const [run] = model().running;
    if (run === undefined) throw new Error('a run is there');
    const many = (turn: number) => Array.from({ length: 400 }, (_, at) => ({ ...run, runId: `run-${at}`, turn }));
    for (let tick = 0; tick < 100; tick += 1) {
      change({ running: many(tick) });
      await clock.advance(100);
    }
    const chars = one.heard.join('').length;
    expect(chars / 10).toBeLessThan(300_000);
    expect(one.events().length).toBeGreaterThan(3);
  });

  it('sends the last event number of a wanted run at once, and nothing for a run that is not in progress', async () => {
    const { stream, model, stage } = await staged();
    const runId = model().running[0]?.runId ?? expect.fail('a run is there');
    const one = listener();
    stream.listen(one, { lastId: null, runs: new Set([`test/${runId}`, 'test/gone', `other/${runId}`]) });
    const after = stage.orchestrator.lastSeqOf(runId);
    expect(one.events().filter(({ name }) => name === 'run_events')).toEqual([
      { id: null, name: 'run_events', data: { project: 'test', run_id: runId, events: [], after } },
    ]);
    expect(after).toEqual(expect.any(Number));
  });

  it('sends a new snapshot when a project is added or removed', async () => {
    const { stream, projects, stage } = await staged();
    const one = listener();
    stream.listen(one, fresh);
    const leave = projects.add(projectOf(stage, 'second'));
    expect([...stateOf(one.events()).keys()]).toEqual(['test', 'second']);
    leave();
    expect([...stateOf(one.events()).keys()]).toEqual(['test']);
  });

  it('keeps what was shown when Baton stops, with one project or several', async () => {
    let isStopping = false;
    const { stream, projects, stage, clock, change, model } = await staged({ isStopping: () => isStopping });
    const one = listener();
    stream.listen(one, fresh);
    const leave = projects.add(projectOf(stage, 'second'));
    const shown = stateOf(one.events());
    expect(model().running.length).toBeGreaterThan(0);
    isStopping = true;
    // Its runs end, and then its projects leave.
    change({ running: [] });
    await clock.advance(2_000);
    leave();
    expect(stateOf(one.events())).toEqual(shown);
    expect([...shown.keys()]).toEqual(['test', 'second']);
  });

  it('keeps what was shown when its last project has left, after a drain', async () => {
    const { stream, leave } = await staged();
    const one = listener();
    stream.listen(one, fresh);
    leave();
    expect([...stateOf(one.events()).keys()]).toEqual(['test']);
  });
});

describe('the stored events', () => {
  it('are limited by number and size, and report missing ones', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { maxLength: 60 }), fc.integer({ min: 1, max: 20 }), (sizes, mostFrames) => {
        const ring = new FrameRing({ mostFrames, mostChars: 200 });
        for (const [at, size] of sizes.entries()) ring.add({ number: at + 1, text: 'x'.repeat(size) });
        for (let number = 0; number <= sizes.length; number += 1) {
          const after = ring.after(number, sizes.length);
          if (after === null) continue;
          expect(after.map((frame) => frame.number)).toEqual(
            Array.from({ length: sizes.length - number }, (_, at) => number + 1 + at),
          );
          expect(after.length).toBeLessThanOrEqual(mostFrames);
        }
        if (sizes.length > 0) expect(ring.after(sizes.length - 1, sizes.length)).toHaveLength(1);
        expect(ring.after(-1, sizes.length)).toBeNull();
        expect(ring.after(sizes.length + 1, sizes.length)).toBeNull();
      }),
    );
  });
});
