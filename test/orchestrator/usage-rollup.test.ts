import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import { Journal } from '../../src/orchestrator/runs/journal.ts';
import { nothingUsed } from '../../src/orchestrator/runs/run-usage.ts';
import { Spending } from '../../src/orchestrator/runs/spending.ts';
import { rollUpUsage } from '../../src/orchestrator/runs/usage-rollup.ts';
import type { Store } from '../../src/store/store.ts';
import { issue } from '../fake/issues.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { scratchStore } from '../fake/scratch-store.ts';
import { settings } from '../fake/settings.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { runs } from '../property-runs.ts';
import { type Between, storeThrough } from './faulty-store.ts';
import { begun, besides, type Scene, type SceneOptions, type StagedRun, scene, spend } from './scene.ts';
import { seededClaims } from './seeded-claims.ts';

const minute = 60_000;
const beforeMidnight = Date.UTC(2026, 0, 1, 23, 59);
const limited = (tokensPerDay: number) =>
  settings({ intervalMs: 10_000, limits: { tokensPerDay }, agent: { stallTimeoutMs: 0, maxRetries: 0 } });
const stops = (...stages: Scene[]) => stages.flatMap(({ runs }) => runs.map((run) => run.stops));
const never: never[] = [];

/** Two daemons on one store, each with a run of its own in flight. */
async function both(options: SceneOptions): Promise<readonly [Scene, Scene]> {
  const issues = [issue({ id: '1' }), issue({ id: '2' })];
  const mine = (id: string) => ({ issues, ...options, trial: { only: [id], maxRuns: null } });
  const one = await scene({ ...mine('1'), owner: 'one', isShared: true });
  const other = await besides(one, mine('2'));
  for (const each of [one, other]) await each.orchestrator.start();
  await one.clock.advance(0);
  expect([one.started(), other.started()]).toEqual([['1'], ['2']]);
  return [one, other];
}

describe('the limit of the day with two daemons on one store', () => {
  // @conforms cadence.32
  it('is reached by the live runs of both, and every run of both is interrupted', async () => {
    const [one, other] = await both({ settings: limited(1_000) });
    spend(one.runs[0], 600);
    spend(other.runs[0], 399);
    await one.clock.advance(70_000);
    expect(stops(one, other)).toEqual([[], []]);
    spend(other.runs[0], 400);
    await one.clock.advance(70_000);
    expect(stops(one, other)).toEqual([['day_limit_reached'], ['day_limit_reached']]);
  });

  it('counts a run once while it ends', async () => {
    const [one, other] = await both({ settings: limited(1_000) });
    spend(one.runs[0], 600);
    spend(other.runs[0], 399);
    await one.clock.advance(minute);
    one.runs[0]?.fail();
    await one.clock.advance(70_000);
    expect(stops(one, other).every((each) => each.length === 0)).toBe(true);
    spend(other.runs[0], 400);
    await one.clock.advance(minute);
    expect(other.runs[0]?.stops).toEqual(['day_limit_reached']);
  });

  // @conforms cadence.34
  it('keeps the usage of a killed daemon, and counts it once when its run is inherited', async () => {
    const [one, other] = await both({ settings: limited(1_000) });
    spend(one.runs[0], 600);
    await one.clock.advance(minute);
    one.kill();
    spend(other.runs[0], 399);
    // Its lease ends, its run is ended by the other, and its issue is looked at by the other.
    await one.clock.advance(70_000);
    expect(stops(other).flat()).toEqual(never);
    expect(await one.store.runs.unfinished(one.project)).toMatchObject([{ issueId: '2' }]);
    spend(other.runs[0], 400);
    expect(other.runs[0]?.stops).toEqual(['day_limit_reached']);
  });

  it('counts the run of a killed daemon before it is inherited', async () => {
    const long = { ...limited(1_000).store, leaseMs: 10 * minute };
    const [one, other] = await both({ settings: { ...limited(1_000), store: long } });
    spend(one.runs[0], 600);
    await one.clock.advance(1_000);
    one.kill();
    await one.clock.advance(minute);
    expect(await one.store.runs.unfinished(one.project)).toHaveLength(2);
    spend(other.runs[0], 400);
    expect(other.runs[0]?.stops).toEqual(['day_limit_reached']);
  });

  it('starts again at midnight UTC for ended runs, and continues for live ones', async () => {
    const clock = new SimulatedClock({ startAt: beforeMidnight });
    const [one, other] = await both({ settings: limited(1_000), clock });
    spend(one.runs[0], 500);
    await clock.advance(1_000);
    one.runs[0]?.fail();
    await clock.advance(15_000);
    expect(one.runs).toHaveLength(2);
    spend(one.runs[1], 300);
    spend(other.runs[0], 199);
    await clock.advance(minute);
    expect(stops(one, other).flat()).toEqual(never);
    // The 500 of yesterday are over; the 300 are still in flight.
    spend(other.runs[0], 699);
    await clock.advance(minute);
    expect(stops(one, other).flat()).toEqual(never);
    spend(other.runs[0], 700);
    expect(other.runs[0]?.stops).toEqual(['day_limit_reached']);
  });

  it('is lifted for both by a resume, for the usage of both', async () => {
    const [one, other] = await both({ settings: limited(1_000) });
    spend(one.runs[0], 600);
    spend(other.runs[0], 400);
    await one.clock.advance(minute);
    for (const { runs } of [one, other]) runs[0]?.end();
    await one.clock.advance(2_000);
    expect(await one.command('resume')).toMatchObject({ status: 'done' });
    await one.clock.advance(minute);
    expect([one.runs.length, other.runs.length]).toEqual([2, 2]);
    spend(one.runs[1], 999);
    await one.clock.advance(minute);
    expect(stops(one, other).map(({ length }) => length)).toEqual([1, 0, 1, 0]);
    spend(other.runs[1], 1);
    await one.clock.advance(minute);
    expect(stops(one, other).map(({ length }) => length)).toEqual([1, 1, 1, 1]);
  });
});

it('a run whose end cannot be written is counted once all the while', async () => {
  let isBroken = false;
  const stage = await begun({
    isShared: true,
    issues: [issue({ id: '1' }), issue({ id: '2' })],
    settings: limited(1_000),
    through: (store) =>
      storeThrough(store, {
        before: (call) => {
          if (isBroken && call === 'in runs.finish') throw new BatonError('store_unavailable', 'gone');
        },
      }),
  });
  spend(stage.runs[0], 600);
  spend(stage.runs[1], 399);
  await stage.clock.advance(1_000);
  isBroken = true;
  stage.runs[0]?.fail();
  await stage.clock.advance(minute);
  expect(stage.runs[1]?.stops).toEqual([]);
  isBroken = false;
  await stage.clock.advance(minute);
  expect(stage.runs[1]?.stops).toEqual([]);
  spend(stage.runs[1], 400);
  expect(stage.runs[1]?.stops).toEqual(['day_limit_reached']);
});

describe('for any actions of two daemons, the usage of the day equals the usage of its runs', () => {
  const anyDeed = fc.record({
    who: fc.constantFrom(0, 1),
    what: fc.constantFrom('spend', 'spend', 'spend', 'fail', 'wait') satisfies fc.Arbitrary<string>,
    tokens: fc.integer({ min: 1, max: 1_000 }),
    waitMs: fc.constantFrom(0, 100, 300, 12_000),
  });
  const deeds = fc.array(anyDeed, { minLength: 1, maxLength: 12 });
  type Deeds = typeof deeds extends fc.Arbitrary<infer T> ? T : never;

  /** Plays the deeds and gives what was used in all. */
  const play = async (pair: readonly [Scene, Scene], all: Deeds): Promise<number> => {
    const used = new Map<StagedRun, number>();
    const over = new Set<StagedRun>();
    for (const { who, what, tokens, waitMs } of all) {
      const run = pair[who]?.runs.at(-1);
      // What has ended says nothing any more.
      if (run !== undefined && what !== 'wait' && !over.has(run)) {
        if (what === 'fail') {
          over.add(run);
          run.fail();
        } else {
          used.set(run, (used.get(run) ?? 0) + tokens);
          spend(run, used.get(run) ?? 0);
        }
      }
      await pair[0].clock.advance(waitMs);
    }
    return [...used.values()].reduce((sum, tokens) => sum + tokens, 0);
  };
  const stage = (tokensPerDay: number) => both({ settings: limited(tokensPerDay) });

  // @conforms cadence.33
  it('a limit one above it is never reached, and one at it always is', async () => {
    await fc.assert(
      fc.asyncProperty(deeds, async (all) => {
        const total = await play(await stage(0), all);
        if (total === 0) return;
        const above = await stage(total + 1);
        expect(await play(above, all)).toBe(total);
        await above[0].clock.advance(70_000);
        expect(stops(...above).flat()).toEqual([]);
        const at = await stage(total);
        await play(at, all);
        await at[0].clock.advance(70_000);
        // Whoever was in flight is stopped, and nobody else starts.
        const said = at.flatMap(({ logger }) => logger.events());
        const waits = at.flatMap(({ orchestrator }) => orchestrator.read().retrying.map(({ waitCode }) => waitCode));
        expect(said.includes('day_limit_reached') || waits.includes('day_limit')).toBe(true);
      }),
      { numRuns: runs(25) },
    );
  });
});

/** What a roll-up reads and changes, real: the store, the journal and the claims, with one run in progress. */
async function given(limits: { readonly tokensPerDay?: number } = {}, between: Between = {}) {
  const clock = new SimulatedClock({ startAt: beforeMidnight });
  const kept = await scratchStore(clock);
  const store = storeThrough(kept, between);
  const project = (await kept.projects.ensure('test', 0)).id;
  const logger = memoryLogger();
  const transcripts = { append: async () => {}, remove: async () => {}, list: async () => [] };
  const journal = new Journal({ store, transcripts, clock, logger, stopping: new AbortController().signal });
  const all = settings({ limits });
  const workflow = {
    path: '',
    revision: '',
    settings: all,
    renderPrompt: () => '',
    promptOf: () => ({ version: 'v1', source: 'test' }),
    renderBranch: () => '',
  };
  const { claims, run } = seededClaims({ store, clock, project });
  const source = { read: () => ({ workflow, problem: null }) };
  const spending = new Spending({ claims, store, clock, project, source });
  const stopped: string[] = [];
  const running = await run('1', workflow);
  journal.runStarts(running.runId, running.generation ?? 0);
  const parts = {
    claims,
    clock,
    spending,
    logger,
    journal,
    source,
    stopRun: (_running: unknown, reason: string) => void stopped.push(reason),
    own: () => {},
  };
  return { clock, store: kept, project, journal, spending, parts, running, stopped };
}

async function startRow(store: Store, project: string, runId: string, issueId: string): Promise<void> {
  const facts = {
    role: 'worker',
    attempt: null,
    retryKind: null,
    backend: 'rehearsal',
    account: null,
    host: 'h',
    startedAt: 0,
  };
  await store.runs.start({ runId, project, issueId, identifier: `T-${issueId}`, generation: 1, ...facts });
}

/** Another daemon's run ends, with what it used. */
async function endRow(store: Store, project: string, runId: string, tokens: number, day: string): Promise<void> {
  await store.transaction(async ({ runs, usage }) => {
    await runs.finish(runId, 1, { endedAt: 0, outcome: 'failed', errorCode: null, errorMessage: null });
    const none = {
      inputTokens: 0,
      cachedInputTokens: 0,
      outputTokens: 0,
      reasoningTokens: 0,
      costMicroUsd: 0,
      runs: 1,
    };
    await usage.add({ project, issueId: 'x', role: 'worker', day, totalTokens: tokens, ...none });
  });
}

describe('the roll-up', () => {
  it('writes noted figures at once, and notes again what the row lacks', async () => {
    const { clock, store, journal, parts, running } = await given();
    running.usage = { ...nothingUsed, inputTokens: 5, outputTokens: 2, totalTokens: 7, costMicroUsd: 3 };
    journal.note('run-1', { turns: 4 });
    await rollUpUsage(parts);
    expect(await store.runs.read('run-1')).toMatchObject({ turns: 4, totalTokens: 0 });
    await clock.advance(250);
    expect(await store.runs.read('run-1')).toMatchObject({
      turns: 4,
      inputTokens: 5,
      outputTokens: 2,
      totalTokens: 7,
      costMicroUsd: 3,
    });
  });

  it('writes nothing twice', async () => {
    let writes = 0;
    const between: Between = {
      before: (call) => {
        if (call === 'in runs.record') writes += 1;
      },
    };
    const { clock, journal, parts, running } = await given({}, between);
    running.usage = { ...nothingUsed, inputTokens: 5, outputTokens: 2, totalTokens: 7, costMicroUsd: 0 };
    journal.note('run-1', running.usage);
    for (let round = 0; round < 5; round += 1) {
      await rollUpUsage(parts);
      await clock.advance(minute);
    }
    expect(writes).toBe(1);
  });

  it('stops our runs when the usage of other daemons reaches the limit of the day', async () => {
    const { store, project, parts, running, stopped } = await given({ tokensPerDay: 1_000 });
    running.usage = { ...running.usage, totalTokens: 400 };
    await startRow(store, project, 'theirs', '2');
    await store.runs.record('theirs', 1, { totalTokens: 599 });
    await rollUpUsage(parts);
    expect(stopped).toEqual([]);
    await store.runs.record('theirs', 1, { totalTokens: 600 });
    await rollUpUsage(parts);
    expect(stopped).toEqual(['day_limit_reached']);
  });

  it('counts live runs at midnight, also before the next read', async () => {
    const { clock, store, project, spending, running } = await given();
    running.usage = { ...running.usage, totalTokens: 10 };
    await startRow(store, project, 'theirs', '2');
    await store.runs.record('theirs', 1, { totalTokens: 100, costMicroUsd: 7 });
    await startRow(store, project, 'over', '3');
    await endRow(store, project, 'over', 1_000, '2026-01-01');
    await spending.read();
    expect(spending.today()).toEqual({ tokens: 1_110, microUsd: 7 });
    await clock.advance(minute);
    expect(spending.today()).toEqual({ tokens: 110, microUsd: 7 });
    await spending.read();
    expect(spending.today()).toEqual({ tokens: 110, microUsd: 7 });
  });

  it.each(['runs.unfinished', 'usage.sumByDay'])(
    'counts a run once that ends just after %s was read',
    async (point) => {
      let ends: (() => Promise<void>) | null = null;
      const between: Between = {
        after: async (call) => {
          const end = call === point ? ends : null;
          if (end !== null) ends = null;
          await end?.();
        },
      };
      const { store, project, spending } = await given({}, between);
      await startRow(store, project, 'theirs', '2');
      await store.runs.record('theirs', 1, { totalTokens: 600 });
      ends = () => endRow(store, project, 'theirs', 600, '2026-01-01');
      await spending.read();
      expect(ends).toBeNull();
      expect(spending.today().tokens).toBe(600);
    },
  );

  it('counts our run once while its end is being written, read before or after', async () => {
    const { store, project, spending, running } = await given();
    await store.runs.record('run-1', 1, { totalTokens: 600 });
    running.usage = { ...running.usage, totalTokens: 600 };
    await spending.read();
    spending.settling(running, true);
    const settling = running.settlingSince;
    expect(spending.today().tokens).toBe(600);
    await spending.read();
    expect(spending.today().tokens).toBe(600);
    // It is not with the day yet, so whoever finishes it adds it.
    const read = running.settlingSince;
    expect(read).not.toBe(settling);
    await endRow(store, project, 'run-1', 600, '2026-01-01');
    await spending.read();
    expect(spending.today().tokens).toBe(600);
    expect(running.settlingSince).toBe(read);
  });
});
