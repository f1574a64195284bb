import { describe, expect, it } from 'vitest';
import type { Settings } from '../../../src/core/settings.ts';
import { pipeline } from '../../core/pipeline/phase.ts';
import { ada } from '../../tracker/board-scene.ts';
import { complete } from '../pipeline/pipeline-scene.ts';
import {
  bigIssue,
  nothingToDo,
  type PlannerScene,
  plan,
  planned,
  plannerScene,
  second,
  subtask,
} from './planner-scene.ts';

/** A planner, and one phase before the work. */
function both(): Settings {
  const [research] = pipeline().phases;
  if (research === undefined) throw new Error('no phase');
  return { ...planned(), pipeline: pipeline({ phases: [research] }) };
}

const latest = (stage: PlannerScene) => stage.runs.at(-1);
const labelsOf = async (stage: PlannerScene, name: string) => (await stage.board.find(name)).labels;

/** The phase agent of the latest run writes its artifact, and the worker after it brings the issue to its end. */
async function prepareAndFinish(stage: PlannerScene, name: string): Promise<void> {
  await complete(latest(stage));
  latest(stage)?.succeed();
  await stage.clock.advance(3 * second);
  expect(stage.works().at(-1)).toBe(`worker ${name}`);
  await stage.board.move((await stage.board.find(name)).id, 'done', ada);
  latest(stage)?.end();
  await stage.clock.advance(3 * second);
}

describe('a task', () => {
  // @conforms 4.12
  it.each([
    ['a planner', planned()],
    ['a planner and phases', both()],
  ])('starts in a project with %s', async (_what, settings) => {
    const stage = await plannerScene({ settings });
    await stage.command('intake_begin', { text: 'Make it blue.' });
    await stage.clock.advance(3 * second);
    expect(stage.runs.map(({ request: { role } }) => role)).toEqual(['intake']);
    const { gates } = await stage.orchestrator.explain(stage.runs[0]?.request.issue.id ?? '');
    expect(gates.filter(({ refusal }) => refusal !== null).map(({ gate }) => gate)).toEqual(['free_here']);
  });
});

describe('an issue that is to be planned, in a project with phases', () => {
  // @conforms planner.6
  it('is split before any phase; its parts pass the phases, and it returns to a worker at once', async () => {
    const stage = await plannerScene({ settings: { ...both(), agent: { ...both().agent, maxConcurrentAgents: 1 } } });
    await bigIssue(stage);
    await stage.clock.advance(2 * second);
    expect(stage.works()).toEqual(['planner BAT-1']);
    expect(await plan(stage.runs[0], { summary: '', subtasks: [subtask('a'), subtask('b', [1])] })).toEqual({
      made: ['BAT-2', 'BAT-3'],
    });
    stage.runs[0]?.succeed();
    await stage.clock.advance(3 * second);
    expect(stage.works().slice(1)).toEqual(['phase BAT-2']);
    // The parent is in no phase, and the labels of neither are on the parts before they have a phase of their own.
    expect((await labelsOf(stage, 'BAT-1')).toSorted()).toEqual(['backend', 'needs-planning']);
    expect(await labelsOf(stage, 'BAT-3')).toEqual(['backend']);
    expect(await labelsOf(stage, 'BAT-2')).toContain('phase:research');

    await prepareAndFinish(stage, 'BAT-2');
    expect(stage.works().at(-1)).toBe('phase BAT-3');
    expect(await stage.statuses()).toMatchObject({ 'BAT-1': 'blocked' });
    await prepareAndFinish(stage, 'BAT-3');
    expect(stage.works()).toEqual([
      'planner BAT-1',
      ...['phase BAT-2', 'worker BAT-2', 'phase BAT-3', 'worker BAT-3'],
      'worker BAT-1',
    ]);
    nothingToDo(latest(stage));
    await stage.clock.advance(60 * second);
    expect(await stage.statuses()).toEqual({ 'BAT-1': 'review', 'BAT-2': 'done', 'BAT-3': 'done' });
    expect([stage.works().length, stage.orchestrator.read().held]).toEqual([6, []]);
  });

  // @conforms planner.6
  it('passes the phases itself if the planner says that it is small enough', async () => {
    const stage = await plannerScene({ settings: both() });
    const id = await bigIssue(stage);
    await stage.clock.advance(2 * second);
    await plan(stage.runs[0], { summary: 'small', subtasks: [] });
    stage.runs[0]?.succeed();
    await stage.clock.advance(3 * second);
    expect(stage.works()).toEqual(['planner BAT-1', 'phase BAT-1']);
    await complete(latest(stage));
    latest(stage)?.succeed();
    await stage.clock.advance(3 * second);
    expect(stage.works()).toEqual(['planner BAT-1', 'phase BAT-1', 'worker BAT-1']);
    expect(await stage.store.phases.read({ project: stage.project, issueId: id })).toMatchObject({ phase: 'ready' });
  });
});
