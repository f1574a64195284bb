// @module-tag full
import { describe, expect, it } from 'vitest';
import { BatonError } from '../../../src/core/baton-error.ts';
import { ada } from '../../tracker/board-scene.ts';
import { type Between, storeThrough } from '../faulty-store.ts';
import type { SceneOptions } from '../scene.ts';
import { bigIssue, nothingToDo, type PlannerScene, plan, planned, plannerScene, second } from './planner-scene.ts';

type Fault = 'lost before' | 'lost after' | 'killed before' | 'killed after';
const faults: readonly Fault[] = ['lost before', 'lost after', 'killed before', 'killed after'];

/** A store that fails at one call, counted from the moment it is armed; a killed daemon reaches it no more. */
class FaultAt {
  calls = 0;
  kill: () => void = () => {};
  #isArmed = false;
  #isDead = false;
  readonly #at: number;
  readonly #fault: Fault | null;

  constructor(at: number, fault: Fault | null) {
    this.#at = at;
    this.#fault = fault;
  }

  arm(isArmed: boolean): void {
    this.#isArmed = isArmed;
  }

  readonly between: Between = {
    before: () => {
      if (this.#isDead) throw new BatonError('store_busy', 'dead');
      if (!this.#isArmed) return;
      this.calls += 1;
      this.#failIf('before');
    },
    after: () => {
      if (this.#isArmed) this.#failIf('after');
    },
  };

  #failIf(when: 'before' | 'after'): void {
    if (this.calls !== this.#at || this.#fault?.endsWith(when) !== true) return;
    this.#isArmed = false;
    if (this.#fault.startsWith('killed')) {
      this.#isDead = true;
      this.kill();
    }
    throw new BatonError('store_busy', 'busy');
  }
}

const settings = planned({}, { agent: { maxConcurrentAgents: 1 } });

/** The agent calls `create_subtasks` again when that failed, as agents do. */
async function playPlan(stage: PlannerScene): Promise<void> {
  const run = stage.runs.at(-1);
  await plan(run).catch(() => plan(run).catch(() => {}));
  run?.succeed();
}

/** Splits an issue with a fault at this call; returns how many calls there were. */
async function playSplit(at: number, fault: Fault | null): Promise<number> {
  const store = new FaultAt(at, fault);
  const options: SceneOptions = { settings };
  const first = await plannerScene({ ...options, through: (real) => storeThrough(real, store.between) });
  store.kill = first.kill;
  await bigIssue(first);
  await first.clock.advance(2 * second);
  expect(first.works()).toEqual(['planner BAT-1']);
  store.arm(true);
  await playPlan(first);
  await first.clock.advance(12 * second);
  store.arm(false);
  let last = first;
  if (fault?.startsWith('killed')) {
    last = await plannerScene({ ...options, store: first.store, clock: first.clock });
    await last.clock.advance(12 * second);
    // What the planner wanted to say died with its daemon.
    const isUnsaid = (await last.store.plans.factsOf(await keyOf(last))).plan === null;
    if (isUnsaid) await playPlan(last);
  }
  await last.clock.advance(30 * second);
  // Every child once, the parent waits for them, and only the first child has its worker.
  expect(await last.statuses()).toEqual({
    'BAT-1': 'blocked',
    'BAT-2': 'in_progress',
    'BAT-3': 'todo',
    'BAT-4': 'todo',
  });
  const facts = await last.store.plans.factsOf(await keyOf(last));
  expect(facts.plan?.children.map(({ identifier }) => identifier)).toEqual(['BAT-2', 'BAT-3', 'BAT-4']);
  const { held, running } = last.orchestrator.read();
  expect([held, running.map(({ issue }) => issue.identifier)]).toEqual([[], ['BAT-2']]);
  return store.calls;
}

async function keyOf({ project, board }: PlannerScene): Promise<{ project: string; issueId: string }> {
  return { project, issueId: (await board.find('BAT-1')).id };
}

/** The children are over, and the parent returns and goes to review, with a fault at this call. */
async function playReturn(at: number, fault: Fault | null): Promise<number> {
  const store = new FaultAt(at, fault);
  const options: SceneOptions = { settings };
  const first = await plannerScene({ ...options, through: (real) => storeThrough(real, store.between) });
  store.kill = first.kill;
  await bigIssue(first);
  await first.clock.advance(2 * second);
  await playPlan(first);
  await first.clock.advance(2 * second);
  first.runs.at(-1)?.request.report({ kind: 'moved', to: 'done' });
  store.arm(true);
  for (const name of ['BAT-2', 'BAT-3', 'BAT-4'])
    await first.board.move((await first.board.find(name)).id, 'done', ada);
  first.runs.at(-1)?.end();
  await first.clock.advance(5 * second);
  if (first.works().at(-1) === 'worker BAT-1') nothingToDo(first.runs.at(-1));
  await first.clock.advance(12 * second);
  store.arm(false);
  let last = first;
  if (fault?.startsWith('killed')) {
    last = await plannerScene({ ...options, store: first.store, clock: first.clock });
    await last.clock.advance(12 * second);
  }
  // A run that was lost is made again.
  for (let turn = 0; turn < 4; turn += 1) {
    if (last.orchestrator.read().running.some(({ issue }) => issue.identifier === 'BAT-1'))
      nothingToDo(last.runs.at(-1));
    await last.clock.advance(15 * second);
  }
  expect(await last.statuses()).toMatchObject({ 'BAT-1': 'review' });
  const { comments } = await last.board.details((await last.board.find('BAT-1')).id);
  expect(comments.length).toBeLessThanOrEqual(1);
  expect(last.orchestrator.read().held).toEqual([]);
  return store.calls;
}

describe.each([
  ['a split', playSplit],
  ['a return', playReturn],
] as const)('%s', { timeout: 300_000 }, (_name, play) => {
  // @conforms planner.1
  it.each(faults)('is made exactly once, whichever call of the store is %s', async (fault) => {
    const calls = await play(0, null);
    expect(calls).toBeGreaterThan(10);
    for (let at = 1; at <= calls; at += 1) await play(at, fault);
  });
});
