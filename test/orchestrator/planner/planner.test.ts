import { describe, expect, it } from 'vitest';
import { telling } from '../../telling.ts';
import { ada } from '../../tracker/board-scene.ts';
import { bigIssue, nothingToDo, plan, planned, plannerScene, second, subtask, three } from './planner-scene.ts';

describe('an issue with the label of the planner', () => {
  // @conforms 4.49, 4.104
  it('is split, waits for its parts, returns when they are over, and goes to review with their list', async () => {
    const stage = await plannerScene({ settings: planned({}, { agent: { maxConcurrentAgents: 5 } }) });
    const id = await bigIssue(stage);
    await stage.clock.advance(second);
    expect(stage.works()).toEqual(['planner BAT-1']);
    expect(await plan(stage.runs[0])).toEqual({ made: ['BAT-2', 'BAT-3', 'BAT-4'] });
    expect(await stage.statuses()).toEqual({ 'BAT-1': 'blocked', 'BAT-2': 'todo', 'BAT-3': 'todo', 'BAT-4': 'todo' });
    stage.runs[0]?.succeed();
    await stage.clock.advance(2 * second);
    expect(stage.works()).toEqual(['planner BAT-1', 'worker BAT-2']);
    expect(stage.orchestrator.read().held).toEqual([]);

    const done = async (name: string, to: 'done' | 'cancelled'): Promise<void> => {
      const { id: part } = await stage.board.find(name);
      stage.runs
        .find(({ request }) => request.issue.identifier === name)
        ?.request.report({ kind: 'moved', to: 'review' });
      await stage.board.move(part, to, ada);
      stage.runs.find(({ request }) => request.issue.identifier === name)?.end();
      await stage.clock.advance(2 * second);
    };
    await done('BAT-2', 'done');
    expect(stage.works().slice(2).toSorted()).toEqual(['worker BAT-3', 'worker BAT-4']);
    await done('BAT-3', 'cancelled');
    expect(await stage.statuses()).toMatchObject({ 'BAT-1': 'blocked' });
    await done('BAT-4', 'done');
    // The parent returned by itself, and its worker knows what became of the parts.
    expect(stage.works().at(-1)).toBe('worker BAT-1');
    expect(stage.runs.at(-1)?.request.parts).toMatchObject([
      { identifier: 'BAT-2', title: 'a', state: 'done' },
      { identifier: 'BAT-3', title: 'b', state: 'cancelled' },
      { identifier: 'BAT-4', title: 'c', state: 'done' },
    ]);
    nothingToDo(stage.runs.at(-1));
    await stage.clock.advance(5 * second);
    expect(await stage.statuses()).toMatchObject({ 'BAT-1': 'review' });
    const comments = (await stage.board.details(id)).comments.map(({ body }) => body);
    expect(comments).toHaveLength(1);
    for (const name of ['BAT-2', 'BAT-3 (cancelled)', 'BAT-4']) expect(comments[0]).toContain(name);
    // It is not planned again, and nothing starts.
    await stage.clock.advance(60 * second);
    expect(stage.works()).toHaveLength(5);
    expect(stage.orchestrator.read().held).toEqual([]);
  });

  it('goes to a worker at once if the planner says that it is small enough', async () => {
    const stage = await plannerScene();
    await bigIssue(stage);
    await stage.clock.advance(second);
    expect(await plan(stage.runs[0], { summary: 'small', subtasks: [] })).toEqual({ made: [] });
    stage.runs[0]?.succeed();
    await stage.clock.advance(2 * second);
    expect(stage.works()).toEqual(['planner BAT-1', 'worker BAT-1']);
    expect(stage.runs[1]?.request.parts).toEqual([]);
  });

  it('is split once, however often the tool is called, and by the first plan', async () => {
    const stage = await plannerScene();
    await bigIssue(stage);
    await stage.clock.advance(second);
    const [first, again] = [await plan(stage.runs[0]), await plan(stage.runs[0])];
    const other = await plan(stage.runs[0], { summary: 'x', subtasks: [subtask('y'), subtask('z')] });
    expect([again, other]).toEqual([first, first]);
    expect(Object.keys(await stage.statuses())).toHaveLength(4);
  });

  it('gets no plan that breaks the rules, and nothing is made', async () => {
    const stage = await plannerScene({ settings: planned({ maxChildren: 2 }) });
    await bigIssue(stage);
    await stage.clock.advance(second);
    expect(await plan(stage.runs[0])).toEqual({ problems: [{ code: 'too_many', allowed: 2 }] });
    const circle = { summary: '', subtasks: [subtask('a', [2]), subtask('b', [1])] };
    expect(await plan(stage.runs[0], circle)).toMatchObject({ problems: [{ code: 'cycle' }] });
    expect(Object.keys(await stage.statuses())).toEqual(['BAT-1']);
  });

  it('is held after three runs without a plan', async () => {
    const stage = await plannerScene({ play: (run) => nothingToDo(run) });
    await bigIssue(stage);
    await stage.clock.advance(300 * second);
    expect(stage.works()).toEqual(['planner BAT-1', 'planner BAT-1', 'planner BAT-1']);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'plan_missing' }]);
  });

  it('has parts that are split again only as deep as the settings allow', async () => {
    const nested = { summary: '', subtasks: [subtask('deep', [], { needsPlanning: true }), subtask('flat')] };
    for (const [maxDepth, roles] of [
      [1, ['planner BAT-1', 'worker BAT-2', 'worker BAT-3']],
      [2, ['planner BAT-1', 'planner BAT-2', 'worker BAT-3']],
    ] as const) {
      const stage = await plannerScene({ settings: planned({ maxDepth }) });
      await bigIssue(stage);
      await stage.clock.advance(second);
      await plan(stage.runs[0], nested);
      stage.runs[0]?.succeed();
      await stage.clock.advance(2 * second);
      expect(stage.works()).toEqual(roles);
      if (maxDepth === 1) continue;
      // One level more than allowed.
      await plan(stage.runs[1], nested);
      stage.runs[1]?.succeed();
      await stage.clock.advance(2 * second);
      expect(stage.works().filter((work) => work.startsWith('planner'))).toHaveLength(2);
    }
  });

  it('waits when the budget of the planner is used up', async () => {
    const stage = await plannerScene({ settings: planned({ runsPerDay: 1 }) });
    await bigIssue(stage, 'one');
    await bigIssue(stage, 'two');
    await stage.clock.advance(second);
    expect(stage.works()).toEqual(['planner BAT-1']);
    expect((await stage.orchestrator.explain('BAT-2')).reason).toMatchObject({ code: 'role_budget' });
  });

  // @conforms budget.2
  it('shows in its explanation what is used of the budget that pays for its plan', async () => {
    const stage = await plannerScene({ settings: planned({ runsPerDay: 7 }, { agent: { maxConcurrentAgents: 1 } }) });
    await bigIssue(stage, 'one');
    await bigIssue(stage, 'two');
    await stage.clock.advance(second);
    const { gates } = await stage.orchestrator.explain('BAT-2');
    const texts = Object.fromEntries(gates.map(({ gate, text }) => [gate, text]));
    expect(texts.role_budget).toEqual(telling(1, 7, 'planner.runs_per_day'));
  });

  it('is an ordinary issue while the planner is off', async () => {
    const stage = await plannerScene({ settings: planned({ enabled: false }) });
    await bigIssue(stage);
    await stage.clock.advance(second);
    expect(stage.works()).toEqual(['worker BAT-1']);
  });

  it('has parts whose author is the run, so that their text is not trusted', async () => {
    const stage = await plannerScene();
    await bigIssue(stage);
    await stage.clock.advance(second);
    await plan(stage.runs[0], three);
    stage.runs[0]?.succeed();
    await stage.clock.advance(2 * second);
    expect(stage.runs[1]?.request.issue).toMatchObject({ identifier: 'BAT-2', authorNames: [] });
    expect(stage.runs[1]?.request.issue.labels).toEqual(['backend']);
    expect(stage.runs[1]?.request.issue.priority).toBe(2);
  });
});
