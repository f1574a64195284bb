import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import { type JobName, jobNames } from '../../src/core/cadence/job-catalogue.ts';
import type { Job } from '../../src/orchestrator/jobs/job.ts';
import { Jobs } from '../../src/orchestrator/jobs/jobs.ts';
import { PendingWork } from '../../src/orchestrator/pending-work.ts';
import type { Store } from '../../src/store/store.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { scratchStore } from '../fake/scratch-store.ts';
import { seededChance } from '../fake/seeded-chance.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { gate, scene } from './scene.ts';

const minute = 60_000;

interface Given {
  readonly jobs: readonly (Partial<Job> & { readonly name: JobName; readonly everyMs: number })[];
  readonly store?: Store;
  readonly clock?: SimulatedClock;
  readonly owner?: string;
  readonly isShared?: boolean;
}

/** The engine with a real store under a simulated clock, and the times at which each job ran. */
async function given({ jobs, ...options }: Given) {
  const clock = options.clock ?? new SimulatedClock();
  const store = options.store ?? (await scratchStore(clock));
  const project = (await store.projects.ensure('test', 0)).id;
  const logger = memoryLogger();
  const ran = new Map<JobName, number[]>();
  const stop = new AbortController();
  const pending = new PendingWork(logger);
  const interval = new Map(jobs.map(({ name, everyMs }) => [name, everyMs]));
  const engine = new Jobs(
    {
      clock,
      logger,
      store,
      project,
      stopping: stop.signal,
      notify: () => {},
      chance: seededChance(1),
      owner: options.owner ?? 'me',
      isShared: options.isShared ?? false,
      own: (what, work) => pending.own(what, work),
    },
    jobs.map(({ everyMs: _everyMs, ...job }) => ({
      kind: () => 'local',
      scope: 'daemon',
      atStart: 'when_due',
      ...job,
      intervalMs: () => interval.get(job.name) ?? minute,
      run: async () => {
        ran.set(job.name, [...(ran.get(job.name) ?? []), clock.monotonic()]);
        await job.run?.();
      },
    })),
  );
  await engine.start();
  const times = (name: JobName): number[] => ran.get(name) ?? [];
  return { clock, store, project, logger, engine, interval, times, end: () => stop.abort() };
}

/** A job that takes so long. */
const slow = (clock: SimulatedClock, ms: number) => (): Promise<void> => {
  const { passed, open } = gate();
  clock.schedule(ms, open);
  return passed;
};

describe('a job', () => {
  // @conforms 3.14, octo-2.5
  it('runs at its interval without drift, however long it takes', async () => {
    const clock = new SimulatedClock();
    const { times } = await given({ clock, jobs: [{ name: 'stall_check', everyMs: 10_000, run: slow(clock, 7_000) }] });
    await clock.advance(60_000);
    expect(times('stall_check')).toEqual([10_000, 20_000, 30_000, 40_000, 50_000, 60_000]);
  });

  // @conforms cadence.1
  it('that is running is not started twice; missed runs become one run on its grid', async () => {
    const clock = new SimulatedClock();
    const { times } = await given({
      clock,
      jobs: [{ name: 'stall_check', everyMs: 10_000, run: slow(clock, 25_000) }],
    });
    await clock.advance(80_000);
    expect(times('stall_check')).toEqual([10_000, 40_000, 70_000]);
  });

  // @conforms cadence.2
  it('that throws is logged and counted, runs again when due, and delays no other', async () => {
    let isBroken = true;
    const stage = await given({
      jobs: [
        {
          name: 'queue_health',
          everyMs: minute,
          run: () => {
            if (isBroken) throw new BatonError('store_busy', 'busy');
          },
        },
        { name: 'usage_rollup', everyMs: minute },
      ],
    });
    await stage.clock.advance(2 * minute);
    const { outcome, failures, error } = stage.engine.views().find(({ name }) => name === 'queue_health') ?? {};
    expect([outcome, failures, error]).toEqual(['failed', 2, 'busy']);
    expect(stage.logger.lines.filter(({ level }) => level === 'warn')).toHaveLength(2);
    expect(stage.times('usage_rollup')).toHaveLength(2);
    isBroken = false;
    await stage.clock.advance(minute);
    expect(stage.engine.views()[0]).toMatchObject({ outcome: 'ok', failures: 0, error: null });
    const kept = await stage.store.jobTimers.list(stage.project);
    expect(kept.find(({ job }) => job === 'queue_health')).toMatchObject({ owner: 'me', outcome: 'ok', failures: 0 });
  });

  it('that is requested runs at once, once for many requests, and again for requests during its run', async () => {
    const clock = new SimulatedClock();
    const { engine, times } = await given({
      clock,
      jobs: [{ name: 'tracker_poll', everyMs: minute, run: slow(clock, 5_000) }],
    });
    await clock.advance(1_000);
    for (let asked = 0; asked < 3; asked += 1) engine.ask('tracker_poll');
    await clock.advance(1_000);
    for (let asked = 0; asked < 3; asked += 1) engine.ask('tracker_poll');
    await clock.advance(10_000);
    expect(times('tracker_poll')).toEqual([1_000, 6_000]);
    // The interval counts from there: nobody who was just asked is asked again.
    await clock.advance(minute);
    expect(times('tracker_poll')).toEqual([1_000, 6_000, 66_000]);
  });

  it('does not run before its earliest time, and runs exactly then', async () => {
    let opensAt = 130_500;
    const stage = await given({
      jobs: [{ name: 'tracker_poll', everyMs: minute, notBefore: () => opensAt }],
    });
    stage.engine.ask('tracker_poll');
    await stage.clock.advance(130_499);
    expect(stage.times('tracker_poll')).toEqual([]);
    await stage.clock.advance(1);
    expect(stage.times('tracker_poll')).toEqual([130_500]);
    // The earliest start moves while the job is planned.
    opensAt = 1_000_000;
    await stage.clock.advance(1_000_000);
    expect(stage.times('tracker_poll')[1]).toBe(1_000_000);
  });

  // @conforms cadence.5
  it('follows a changed interval: a shorter one at once, a longer one from its last run', async () => {
    const stage = await given({ jobs: [{ name: 'queue_health', everyMs: 30 * minute }] });
    await stage.clock.advance(40 * minute);
    stage.interval.set('queue_health', minute);
    stage.engine.review();
    await stage.clock.advance(0);
    expect(stage.times('queue_health')).toEqual([30 * minute, 40 * minute]);
    stage.interval.set('queue_health', 10 * minute);
    stage.engine.review();
    await stage.clock.advance(10 * minute);
    expect(stage.times('queue_health').at(-1)).toBe(50 * minute);
  });

  // @conforms cadence.4
  it('that is remote gets jitter, which shifts no later run', async () => {
    const stage = await given({ jobs: [{ name: 'tracker_poll', everyMs: minute, kind: () => 'remote' }] });
    await stage.clock.advance(200 * minute);
    const late = stage.times('tracker_poll').map((at, index) => at - (index + 1) * minute);
    expect(late).toHaveLength(199 + Number(late[199] !== undefined));
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...late)).toBeLessThanOrEqual(minute / 10);
    expect(new Set(late).size).toBeGreaterThan(100);
  });

  it('with jitter still runs at once when it is requested', async () => {
    const stage = await given({ jobs: [{ name: 'tracker_poll', everyMs: 5 * minute, kind: () => 'remote' }] });
    // Its time has come, its jitter has not passed yet.
    await stage.clock.advance(5 * minute + 1);
    expect(stage.times('tracker_poll')).toEqual([]);
    stage.engine.ask('tracker_poll');
    await stage.clock.advance(0);
    expect(stage.times('tracker_poll')).toEqual([5 * minute + 1]);
  });

  // @conforms cadence.3
  it('that was missed while the machine slept runs once', async () => {
    const clock = new SimulatedClock();
    const { times } = await given({ clock, jobs: [{ name: 'stall_check', everyMs: 5_000 }] });
    // All timers are late at once, as after a sleep that the monotonic clock has seen.
    const { monotonic } = clock;
    const slept = 8 * 60 * minute;
    clock.monotonic = () => monotonic.call(clock) + slept;
    await clock.advance(5_000);
    expect(times('stall_check')).toEqual([slept + 5_000]);
    await clock.advance(5_000);
    expect(times('stall_check')).toHaveLength(2);
  });
});

describe('the history of the jobs', () => {
  // @conforms octo-2.5
  it('survives a restart: no job runs at once or later because of it', async () => {
    const jobs = [{ name: 'store_maintenance', everyMs: 10 * minute }] as const;
    const first = await given({ jobs });
    await first.clock.advance(14 * minute);
    first.end();
    await first.engine.stop();
    const { clock, store } = first;
    const second = await given({ jobs, clock, store });
    expect(second.engine.views()[0]).toMatchObject({ outcome: 'ok', lastRunAt: clock.now() - 4 * minute });
    await clock.advance(6 * minute);
    expect(second.times('store_maintenance')).toEqual([20 * minute]);
  });

  it('is not trusted after a clock change: no job waits longer than its interval', async () => {
    const jobs = [{ name: 'store_maintenance', everyMs: 10 * minute }] as const;
    const first = await given({ jobs });
    await first.clock.advance(10 * minute);
    first.end();
    await first.engine.stop();
    first.clock.jumpWall(-365 * 24 * 60 * minute);
    const second = await given({ jobs, clock: first.clock, store: first.store });
    await first.clock.advance(10 * minute);
    expect(second.times('store_maintenance')).toHaveLength(1);
  });

  // @conforms 4.14, cadence.6
  it('lets one daemon run a job for all daemons of a store', async () => {
    const jobs = [{ name: 'store_maintenance', everyMs: 10 * minute, scope: 'store' }] as const;
    const one = await given({ jobs, owner: 'one', isShared: true });
    const { clock, store } = one;
    await clock.advance(3 * minute);
    const other = await given({ jobs, clock, store, owner: 'other', isShared: true });
    await clock.advance(60 * minute);
    const all = [...one.times('store_maintenance'), ...other.times('store_maintenance')].toSorted((a, b) => a - b);
    expect(all).toHaveLength(6);
    expect(all.slice(1).every((at, index) => at - (all[index] ?? 0) >= 10 * minute)).toBe(true);
  });

  it('ignores a due time from a wrong clock', async () => {
    const clock = new SimulatedClock();
    const store = await scratchStore(clock);
    const project = (await store.projects.ensure('test', 0)).id;
    const year = 365 * 24 * 60 * minute;
    const row = { outcome: 'ok', durationMs: 1, failures: 0, error: null, lastRunAt: clock.now() } as const;
    await store.jobTimers.put({ project, job: 'store_maintenance', owner: '', nextDueAt: clock.now() + year, ...row });
    const jobs = [{ name: 'store_maintenance', everyMs: 10 * minute, scope: 'store' }] as const;
    const { times } = await given({ jobs, clock, store, isShared: true });
    await clock.advance(10 * minute);
    expect(times('store_maintenance')).toHaveLength(1);
  });

  it('is not needed: jobs run with a store that cannot be read or written', async () => {
    const clock = new SimulatedClock();
    const store = await scratchStore(clock);
    const busy = () => Promise.reject(new BatonError('store_busy', 'busy'));
    const deaf = { ...store, jobTimers: { list: busy, put: busy, take: busy } };
    const { times } = await given({ clock, store: deaf, jobs: [{ name: 'usage_rollup', everyMs: minute }] });
    await clock.advance(3 * minute);
    expect(times('usage_rollup')).toHaveLength(3);
  });
});

describe('a stop', () => {
  it('waits for a running job, and names one that hangs and is left behind', async () => {
    const clock = new SimulatedClock();
    const stage = await given({
      clock,
      jobs: [
        { name: 'usage_rollup', everyMs: minute, run: slow(clock, 5_000) },
        { name: 'pruning', everyMs: minute, run: () => new Promise(() => {}) },
      ],
    });
    await clock.advance(minute);
    let isOver = false;
    stage.end();
    void stage.engine.stop().then(() => {
      isOver = true;
    });
    await clock.advance(29_000);
    expect(isOver).toBe(false);
    await clock.advance(1_000);
    expect(isOver).toBe(true);
    const told = stage.logger.lines.filter(({ event }) => event === 'jobs_abandoned');
    expect(told).toMatchObject([{ fields: { jobs: ['pruning'] } }]);
  });
});

describe('the orchestrator', () => {
  // @conforms 3.11, 4.14
  it('has every job of the catalogue, at its default interval', async () => {
    const stage = await scene();
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    const { jobs } = stage.orchestrator.read();
    expect(jobs.map(({ name }) => name)).toEqual(jobNames);
    expect(Object.fromEntries(jobs.map(({ name, intervalMs }) => [name, intervalMs / 1_000]))).toEqual({
      finished_agents: 10,
      stall_check: 5,
      tracker_poll: 30,
      pull_requests: 5,
      workspace_sweep: 600,
      pruning: 86_400,
      store_maintenance: 600,
      usage_rollup: 60,
      queue_health: 1_800,
      scanner: 600,
      learning: 600,
    });
    expect(stage.health.at(-1)?.jobs.map(({ name }) => name)).toEqual(jobNames);
  });
});
