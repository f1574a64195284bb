import { describe, expect, it } from 'vitest';
import { sleep } from '../../../src/clock/clock.ts';
import type { Settings } from '../../../src/core/settings.ts';
import { issuesProposal, type SaidIssue } from '../../../src/core/task/proposal.ts';
import type { SetupProposal } from '../../../src/core/task/setup-proposal.ts';
import { isTaskId } from '../../../src/core/task/task.ts';
import type { Ask, Tracker } from '../../../src/tracker/tracker.ts';
import { issue } from '../../fake/issues.ts';
import { settings } from '../../fake/settings.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';
import { begun, besides, type Scene, type SceneOptions, scene, spend } from '../scene.ts';

const minute = 60_000;
const polled: Settings = settings({ intervalMs: 1_000 });

/** A daemon with an intake that was asked for. */
async function withIntake(options: SceneOptions = {}) {
  const stage = await begun({ issues: [], settings: polled, ...options });
  const answer = await stage.command('intake_begin', { text: '\n\nMake it blue.\nAnd fast.' });
  const id = String(answer?.data.task);
  await stage.clock.advance(0);
  return { ...stage, id, answer };
}

const taskOf = ({ store, project, id }: Scene & { readonly id: string }) => store.tasks.read({ project, taskId: id });

function said(title: string): SaidIssue {
  return { title, description: '', criteria: [], priority: null, labels: [], duplicateOf: null };
}

/** Its agent answers with these titles. */
async function propose(stage: Scene, titles: readonly string[], at = -1): Promise<void> {
  const run = stage.runs.at(at);
  const { task } = run?.request ?? {};
  await task?.propose(issuesProposal(titles.map(said), task.open));
  run?.request.report({ kind: 'changed', changed: false, facts: null });
  run?.succeed();
  await stage.clock.advance(minute);
}

const idle = ({ orchestrator }: Scene) => {
  const { running, retrying, held } = orchestrator.read();
  return [running.length, retrying.length, held.length];
};

describe('an intake', () => {
  // @conforms 4.12, 4.137
  it('starts at once, proposes, waits for a person, and leaves nothing behind', async () => {
    const stage = await withIntake({ issues: [issue({ id: '1', title: 'Be fast', state: 'Backlog' })] });
    expect(stage.answer).toMatchObject({ status: 'done', code: 'task_waits' });
    expect(stage.runs.map(({ request }) => request.role)).toEqual(['intake']);
    expect(stage.runs[0]?.request.task?.task).toMatchObject({ title: 'Intake: Make it blue.', status: 'waiting' });
    await propose(stage, ['Make it blue', 'Make it fast']);
    expect(await taskOf(stage)).toMatchObject({
      status: 'proposed',
      proposal: { kind: 'issues', issues: [{ title: 'Make it blue' }, { title: 'Make it fast' }] },
    });
    expect([stage.runs.length, ...idle(stage)]).toEqual([1, 0, 0, 0]);
    expect(stage.orchestrator.read().proposals).toMatchObject([{ id: stage.id }]);
    const [run] = await stage.store.runs.list(stage.project, { issueId: stage.id, limit: 10 });
    expect(run).toMatchObject({ role: 'intake', finish: { outcome: 'succeeded' } });
  });

  // @conforms intake.4
  it('knows the open issues of a tracker elsewhere, and without an answer those of the last poll', async () => {
    const tracker = (fetchOpen: Tracker['fetchOpen']): Tracker => ({
      ...{ kind: 'elsewhere', fetchByIds: async () => [], changes: null },
      fetchByStates: async (states) => (states.includes('Todo') ? [issue({ id: '1', title: 'Polled' })] : []),
      ...(fetchOpen === undefined ? {} : { fetchOpen }),
    });
    const inBacklog = { identifier: 'T-9', title: 'In the backlog' };
    const one = { ...polled, agent: { ...polled.agent, maxConcurrentAgents: 2 } };
    for (const [fetchOpen, title] of [
      [async () => [inBacklog], 'In the backlog'],
      [async () => Promise.reject(new Error('down')), 'Polled'],
      [undefined, 'Polled'],
    ] as const) {
      const stage = await withIntake({ settings: one, otherTracker: () => tracker(fetchOpen) });
      const open = stage.runs.flatMap(({ request: { task } }) => task?.open ?? []);
      expect(open.map((each) => each.title)).toEqual([title]);
    }
  });

  it('starts also where issues have a planner', async () => {
    const stage = await withIntake({ settings: { ...polled, planner: { ...polled.planner, enabled: true } } });
    await stage.clock.advance(minute);
    expect(stage.runs.map(({ request }) => request.role)).toEqual(['intake']);
  });

  it('keeps its first proposal, so that a person accepts what they read', async () => {
    const stage = await withIntake();
    const { task } = stage.runs[0]?.request ?? {};
    const first = issuesProposal([said('One'), said('Two')], []);
    await task?.propose(first);
    // The same once more, as after a lost answer.
    await task?.propose(first);
    const swap = () => task?.propose(issuesProposal([said('Three'), said('Four')], []));
    await expect(swap()).rejects.toMatchObject({ code: 'command_refused' });
    expect(await taskOf(stage)).toMatchObject({ status: 'proposed', proposal: first });
    await stage.command('task_refuse', { task: stage.id, numbers: [1] });
    await expect(swap()).rejects.toMatchObject({ code: 'command_refused' });
    const issues = [
      { title: 'One', decision: 'refused' },
      { title: 'Two', decision: 'open' },
    ];
    expect(await taskOf(stage)).toMatchObject({ status: 'proposed', proposal: { issues } });
  });

  it('does not keep other commands waiting while the tracker files nothing', async () => {
    const clock = new SimulatedClock();
    let asked = 0;
    const no = async (): Promise<never> => Promise.reject(new Error('not here'));
    const createIssue = (_draft: unknown, _author: unknown, ask?: Ask): Promise<never> => {
      asked += 1;
      return sleep(clock, Number.MAX_SAFE_INTEGER, ask?.signal).then(no);
    };
    const changes = { moveIssue: no, addComment: no, changeLabels: no, createIssue };
    const silent = { kind: 'silent', fetchByStates: async () => [], fetchByIds: async () => [], changes };
    const stage = await withIntake({ clock, otherTracker: () => silent });
    await propose(stage, ['One']);
    expect(await stage.command('task_accept', { task: stage.id })).toBeNull();
    expect(await stage.command('pause')).toBeNull();
    await clock.advance(5 * minute);
    expect(stage.orchestrator.read().paused).not.toBeNull();
    expect(asked).toBeGreaterThan(1);
  });

  it('lets its agent end its turn after the answer', async () => {
    const stage = await withIntake();
    const { task } = stage.runs[0]?.request ?? {};
    await task?.propose(issuesProposal([said('One')], []));
    await stage.clock.advance(20_000);
    expect(stage.runs[0]?.stops).toEqual([]);
    stage.runs[0]?.succeed();
    await stage.clock.advance(minute);
    const [run] = await stage.store.runs.list(stage.project, { issueId: stage.id, limit: 10 });
    expect(run).toMatchObject({ finish: { outcome: 'succeeded' } });
  });

  // @conforms 4.59
  it('has failed when its run ends without an answer, and is tried again by a person alone', async () => {
    const stage = await withIntake();
    stage.runs[0]?.succeed();
    await stage.clock.advance(10 * minute);
    expect(await taskOf(stage)).toMatchObject({ status: 'failed', error: { code: 'task_unanswered' } });
    expect(stage.runs).toHaveLength(1);
    expect(await stage.command('task_retry', { task: stage.id })).toMatchObject({ code: 'task_waits' });
    await stage.clock.advance(minute);
    expect(stage.runs).toHaveLength(2);
    stage.runs[1]?.fail();
    await stage.clock.advance(10 * minute);
    expect(await taskOf(stage)).toMatchObject({ status: 'failed', error: { code: 'agent_exited' } });
    expect([stage.runs.length, ...idle(stage)]).toEqual([2, 0, 0, 0]);
  });

  it('lets its agent finish its turn after the answer', async () => {
    const stage = await withIntake();
    const [run] = stage.runs;
    await run?.request.task?.propose(issuesProposal([said('One')], []));
    await stage.clock.advance(20_000);
    expect(run?.stops).toEqual([]);
    run?.request.report({ kind: 'changed', changed: false, facts: null });
    run?.succeed();
    await stage.clock.advance(minute);
    const [record] = await stage.store.runs.list(stage.project, { issueId: stage.id, limit: 10 });
    expect(record).toMatchObject({ finish: { outcome: 'succeeded' } });
  });

  // @conforms 4.59
  it('is stopped at its own deadline and not for its silence', async () => {
    const quick = { ...polled, intake: { ...polled.intake, timeoutMs: 20 * minute } };
    const stage = await withIntake({ settings: { ...quick, agent: { ...quick.agent, stallTimeoutMs: minute } } });
    await stage.clock.advance(19 * minute);
    expect(stage.runs[0]?.stops).toEqual([]);
    await stage.clock.advance(2 * minute);
    expect(stage.runs[0]?.stops).toEqual(['deadline']);
    stage.runs[0]?.end();
    await stage.clock.advance(minute);
    expect(await taskOf(stage)).toMatchObject({ status: 'failed', error: { code: 'run_deadline' } });
  });

  it('waits for quota like every run, and has not failed', async () => {
    const stage = await withIntake();
    stage.runs[0]?.fail('agent_quota_exhausted', { resets_at: stage.clock.now() + 5 * minute });
    await stage.clock.advance(minute);
    expect(await taskOf(stage)).toMatchObject({ status: 'waiting' });
    await stage.clock.advance(30 * minute);
    expect(stage.runs).toHaveLength(2);
    await propose(stage, ['One']);
    expect(await taskOf(stage)).toMatchObject({ status: 'proposed' });
  });

  // @conforms 4.59
  it('is ended when the money of its role is spent, has failed, and waits for the next day when it is tried again', async () => {
    const clock = new SimulatedClock({ startAt: Date.UTC(2026, 0, 1, 23) });
    const limited = { ...polled, limits: { ...polled.limits, runWallTimeMs: 0 } };
    const stage = await withIntake({ clock, settings: { ...limited, intake: { ...limited.intake, usdPerDay: 1 } } });
    spend(stage.runs[0], 10, 1_000_000);
    expect(stage.runs[0]?.stops).toEqual(['role_budget_reached']);
    stage.runs[0]?.end();
    await clock.advance(minute);
    expect(await taskOf(stage)).toMatchObject({ status: 'failed', error: { code: 'run_interrupted' } });
    await stage.command('task_retry', { task: stage.id });
    await clock.advance(50 * minute);
    expect([stage.runs.length, stage.orchestrator.read().skipped.map(({ reason }) => reason.code)]).toEqual([
      1,
      ['role_budget'],
    ]);
    await clock.advance(10 * minute);
    expect(stage.runs).toHaveLength(2);
  });

  it('ends its agent when a person refuses it', async () => {
    const stage = await withIntake();
    expect(await stage.command('task_refuse', { task: stage.id })).toMatchObject({ code: 'task_refused' });
    await stage.clock.advance(5_000);
    expect(stage.runs[0]?.stops).toEqual(['terminal_state']);
    stage.runs[0]?.end();
    await stage.clock.advance(minute);
    expect([await taskOf(stage), idle(stage)]).toMatchObject([{ status: 'refused' }, [0, 0, 0]]);
    await expect(stage.runs[0]?.request.task?.propose({ kind: 'issues', issues: [] })).rejects.toMatchObject({
      code: 'claim_lost',
    });
  });

  // @conforms 4.58
  it('has failed when its daemon died, and is started by no other one', async () => {
    const one = await withIntake({ isShared: true, owner: 'one' });
    const other = await besides(one, { settings: polled });
    await other.orchestrator.start();
    await one.clock.advance(minute);
    expect(other.runs).toEqual([]);
    one.kill();
    await other.clock.advance(60 * minute);
    expect(other.runs).toEqual([]);
    expect(await taskOf({ ...other, id: one.id })).toMatchObject({
      status: 'failed',
      error: { code: 'orchestrator_restarted' },
    });
    expect(idle(other)).toEqual([0, 0, 0]);
    await other.command('task_retry', { task: one.id });
    await other.clock.advance(minute);
    expect(other.runs.map(({ request }) => request.role)).toEqual(['intake']);
  });

  it('keeps what was proposed before its daemon died', async () => {
    const one = await withIntake();
    const { task } = one.runs[0]?.request ?? {};
    await task?.propose(issuesProposal([said('One')], []));
    one.kill();
    const { store, clock, tracker, id } = one;
    const next = await scene({ store, clock, tracker, settings: polled });
    await next.orchestrator.start();
    await clock.advance(10 * minute);
    expect([await taskOf({ ...next, id }), next.runs, idle(next)]).toMatchObject([
      { status: 'proposed' },
      [],
      [0, 0, 0],
    ]);
  });

  it('has failed after an orderly stop, and costs nothing more by itself', async () => {
    const one = await withIntake();
    const stopping = one.orchestrator.stop();
    await one.clock.advance(0);
    one.runs[0]?.end();
    await one.clock.advance(minute);
    await stopping;
    const { store, clock, tracker, id } = one;
    const next = await scene({ store, clock, tracker, settings: polled });
    await next.orchestrator.start();
    await clock.advance(10 * minute);
    expect([await taskOf({ ...next, id }), next.runs]).toMatchObject([{ status: 'failed' }, []]);
  });

  // @conforms 4.20
  it('takes a slot, and starts before issues', async () => {
    const full = { ...polled, agent: { ...polled.agent, maxConcurrentAgents: 1 } };
    const stage = await begun({ issues: [issue({ id: '1' }), issue({ id: '2' })], settings: full });
    await stage.command('intake_begin', { text: 'Make it blue.' });
    await stage.clock.advance(minute);
    expect(stage.runs.map(({ request }) => request.role)).toEqual(['worker']);
    stage.runs[0]?.fail();
    await stage.clock.advance(500);
    expect(stage.runs.map(({ request }) => request.role)).toEqual(['worker', 'intake']);
  });

  // @conforms 4.57
  it('is never asked of the tracker', async () => {
    const stage = await withIntake({ issues: [issue({ id: '1', state: 'Backlog' })] });
    await stage.clock.advance(5 * minute);
    await propose(stage, ['One']);
    await stage.command('task_refuse', { task: stage.id });
    expect(stage.orchestrator.read().proposals).toEqual([]);
    await stage.clock.advance(60 * minute);
    expect(stage.calls.length).toBeGreaterThan(0);
    expect(stage.calls.flatMap(({ kind, asked }) => (kind === 'ids' ? asked.filter(isTaskId) : []))).toEqual([]);
  });

  it('is refused without a text, and commands about an unknown one are', async () => {
    const stage = await begun({ issues: [], settings: polled });
    expect(await stage.command('intake_begin', { text: ' \n ' })).toMatchObject({ code: 'nothing_to_say' });
    expect(await stage.command('task_accept', { task: 'intake:no' })).toMatchObject({ code: 'task_not_found' });
  });
});

describe('a setup', () => {
  const repo = { location: '/project', shown: '/project', isLocal: true };
  const withRepository: Settings = { ...polled, workspace: { ...polled.workspace, repo } };
  const proven = (name: string) =>
    ({ name, run: 'make', proof: { result: 'passed', exitCode: 0, durationMs: 5, output: 'ok' } }) as const;
  const proposal: SetupProposal = {
    ...{ kind: 'setup', setup: null, checks: [proven('test')], notes: '', commit: 'c1', revision: 'r1' },
  };

  // @conforms 4.107
  it('starts only when a person asks for it, and once; no other work waits for one', async () => {
    const issues = [issue({ id: '1' })];
    const stage = await begun({ issues: [], settings: withRepository });
    await stage.clock.advance(10 * minute);
    expect(stage.runs).toEqual([]);
    const answer = await stage.command('setup_begin');
    const again = await stage.command('setup_begin');
    expect([answer, again]).toMatchObject([{ code: 'task_waits' }, { code: 'task_waits', data: answer?.data }]);
    await stage.clock.advance(minute);
    expect(stage.runs.map(({ request }) => [request.role, request.task?.open])).toEqual([['setup', []]]);
    const other = await begun({ issues, settings: withRepository });
    await other.clock.advance(minute);
    expect(other.runs.map(({ request }) => request.role)).toEqual(['worker']);
  });

  // @conforms 4.138
  it('waits for a person, who says which content of the file has it', async () => {
    const stage = await begun({ issues: [], settings: withRepository });
    const task = String((await stage.command('setup_begin'))?.data.task);
    await stage.clock.advance(0);
    await stage.runs[0]?.request.task?.propose(proposal);
    stage.runs[0]?.succeed();
    await stage.clock.advance(minute);
    const id = { ...stage, id: task };
    expect(await taskOf(id)).toMatchObject({ status: 'proposed', proposal });
    expect(await stage.command('task_accept', { task })).toMatchObject({ code: 'written_by_person' });
    expect(await taskOf(id)).toMatchObject({ status: 'proposed' });
    expect(await stage.command('task_accept', { task, revision: 'r2' })).toMatchObject({ code: 'setup_accepted' });
    expect(await taskOf(id)).toMatchObject({ status: 'accepted', proposal });
    expect([stage.runs.length, ...idle(stage)]).toEqual([1, 0, 0, 0]);
  });

  it('needs a repository, and keeps its proposal when it is refused', async () => {
    const without = await begun({ issues: [], settings: polled });
    expect(await without.command('setup_begin')).toMatchObject({ code: 'no_repository' });
    const stage = await begun({ issues: [], settings: withRepository });
    const task = String((await stage.command('setup_begin'))?.data.task);
    await stage.clock.advance(0);
    await stage.runs[0]?.request.task?.propose(proposal);
    stage.runs[0]?.succeed();
    await stage.clock.advance(minute);
    expect(await stage.command('task_refuse', { task })).toMatchObject({ code: 'task_refused' });
    expect(await taskOf({ ...stage, id: task })).toMatchObject({ status: 'refused', proposal });
    expect(await stage.command('task_accept', { task, revision: 'r' })).toMatchObject({ code: 'task_not_open' });
  });
});
