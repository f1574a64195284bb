import fc from 'fast-check';
import { expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { runs } from '../property-runs.ts';
import { type Between, storeThrough } from './faulty-store.ts';
import { type Scene, type StagedRun, scene } from './scene.ts';

const person = { kind: 'person', name: 'me' } as const;

/** Calls of the store that fail, by their number: before they are done, or after it, when only the answer is lost. */
interface Faults {
  readonly before: readonly number[];
  readonly after: readonly number[];
}

type End = 'succeed' | 'fail';

const numbers = fc.array(fc.integer({ min: 0, max: 250 }), { maxLength: 15 });
const someFaults = fc.record({ before: numbers, after: numbers });
const someEnds = fc.array(fc.constantFrom<End>('succeed', 'fail'), { maxLength: 8 });

/** A store that fails as planned until it is healed. */
function failing(faults: Faults): Between & { heal(): void } {
  let calls = 0;
  let isHealed = false;
  const failAt = (planned: readonly number[]): void => {
    if (!isHealed && planned.includes(calls)) throw new BatonError('store_busy', 'busy');
  };
  return {
    before: () => {
      calls += 1;
      failAt(faults.before);
    },
    after: () => failAt(faults.after),
    heal: () => {
      isHealed = true;
    },
  };
}

/** Live agents, and whether an issue ever had two. */
class Agents {
  readonly #live: StagedRun[] = [];
  readonly #ends: End[];
  hadTwo = false;

  constructor(ends: readonly End[]) {
    this.#ends = [...ends];
  }

  readonly play = (run: StagedRun): void => {
    const isSecond = this.#live.some(({ request }) => request.issue.id === run.request.issue.id);
    this.hadTwo ||= isSecond;
    this.#live.push(run);
  };

  /** The one that lives longest ends: as it was asked to, or as planned. */
  endOne(): void {
    const run = this.#live.shift();
    if (run === undefined) return;
    if (run.stops.length > 0) run.end();
    else run[this.#ends.shift() ?? 'succeed']();
  }
}

async function goOn(stage: Scene, agents: Agents, rounds: number, roundMs: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    await stage.clock.advance(roundMs);
    agents.endOne();
  }
}

async function moveAll({ tracker }: Scene, state: string): Promise<void> {
  for (const { id } of tracker.all()) await tracker.changes.moveIssue(id, state, person);
}

async function survives(faults: Faults, ends: readonly End[], isShared: boolean): Promise<void> {
  const store = failing(faults);
  const agents = new Agents(ends);
  const stage = await scene({
    isShared,
    issues: ['1', '2', '3'].map((id) => issue({ id })),
    settings: settings({ intervalMs: 1_000, agent: { maxConcurrentAgents: 2, maxRetries: 0 } }),
    through: (real) => storeThrough(real, store),
    play: agents.play,
  });
  // A store that fails at the start is told to whoever starts; nothing may have begun then.
  const isStarted = await stage.orchestrator.start().then(
    () => true,
    () => false,
  );
  await goOn(stage, agents, 12, 1_500);
  if (!isStarted) {
    expect(stage.runs).toEqual([]);
    return;
  }
  store.heal();
  await goOn(stage, agents, 20, 10_000);
  expect(agents.hadTwo).toBe(false);
  expect(new Set(stage.started())).toEqual(new Set(['1', '2', '3']));
  await moveAll(stage, 'Done');
  await goOn(stage, agents, 12, 10_000);
  expect(stage.orchestrator.read()).toMatchObject({ running: [], retrying: [], held: [] });
  expect(await stage.store.claims.held(stage.project, stage.clock.now())).toEqual([]);
  expect(await stage.store.runs.unfinished(stage.project)).toEqual([]);
  const recorded = (await stage.store.runs.list(stage.project, { limit: 1_000 })).map(({ runId }) => runId);
  expect(recorded).toEqual(expect.arrayContaining(stage.runs.map(({ request }) => request.runId)));
  await stage.orchestrator.stop();
}

// @conforms claims.17
it.each([false, true])(
  'a store that fails at any points loses no issue and gives none two agents (shared: %s)',
  async (isShared) => {
    await fc.assert(
      fc.asyncProperty(someFaults, someEnds, (faults, ends) => survives(faults, ends, isShared)),
      { numRuns: runs(12) },
    );
  },
  // It plays half an hour a dozen times; on a busy machine that takes its time.
  120_000,
);
