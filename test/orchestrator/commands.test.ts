import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { scene } from './scene.ts';

const quick = settings({ intervalMs: 100 });
const startedOf = (stage: Awaited<ReturnType<typeof scene>>) => stage.runs.map(({ request }) => request.issue.id);

async function begun(options: Parameters<typeof scene>[0] = {}) {
  const stage = await scene({
    settings: quick,
    issues: [issue({ id: '1' }), issue({ id: '2', state: 'Backlog' })],
    ...options,
  });
  await stage.orchestrator.start();
  await stage.clock.advance(0);
  return stage;
}

describe('pause and resume', () => {
  it('start nothing new, let runs go on, and say so for each issue that waits', async () => {
    const stage = await begun();
    expect(await stage.command('pause', { reason: 'budget' })).toMatchObject({
      status: 'done',
      text: 'nothing new starts; 1 run goes on',
    });
    await stage.tracker.changes.moveIssue('2', 'Todo', { kind: 'orchestrator' });
    await stage.clock.advance(1_000);
    expect(startedOf(stage)).toEqual(['1']);
    expect(stage.orchestrator.read().skipped.map(({ reason }) => reason.text)).toContain('Baton is paused: budget');
    expect(await stage.command('resume')).toMatchObject({ status: 'done' });
    await stage.clock.advance(0);
    expect(startedOf(stage)).toEqual(['1', '2']);
  });

  it('hold back a retry that comes due, which is not forgotten', async () => {
    const stage = await begun();
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    await stage.command('pause');
    await stage.clock.advance(60_000);
    expect(startedOf(stage)).toEqual(['1']);
    expect(stage.orchestrator.read().retrying).toMatchObject([{ attempt: 1, waitReason: 'Baton is paused' }]);
    await stage.command('resume');
    await stage.clock.advance(1_000);
    expect(stage.runs[1]?.request).toMatchObject({ attempt: 1, retryKind: 'failure' });
  });

  it('a pause holds over a restart', async () => {
    const first = await begun();
    await first.command('pause', { reason: 'night' });
    const second = await begun({ store: first.store });
    await second.clock.advance(1_000);
    expect(startedOf(second)).toEqual([]);
    expect(second.orchestrator.read().paused).toMatchObject({ kind: 'pause', reason: 'night' });
    await second.command('resume');
    const third = await begun({ store: first.store });
    expect(startedOf(third)).toEqual(['1']);
  });

  it('are refused when they would change nothing', async () => {
    const stage = await begun();
    expect(await stage.command('resume')).toMatchObject({ status: 'refused', text: 'it is not paused' });
    await stage.command('pause');
    expect(await stage.command('pause')).toMatchObject({ status: 'refused', text: 'it is paused already' });
  });
});

describe('drain', () => {
  it('ends the orchestrator with its last run', async () => {
    const stage = await begun();
    let closed = false;
    void stage.orchestrator.closed.then(() => {
      closed = true;
    });
    expect(await stage.command('drain')).toMatchObject({ status: 'done' });
    await stage.tracker.changes.moveIssue('2', 'Todo', { kind: 'orchestrator' });
    await stage.clock.advance(1_000);
    expect([closed, startedOf(stage)]).toEqual([false, ['1']]);
    stage.runs[0]?.succeed();
    await stage.clock.advance(100);
    expect(closed).toBe(true);
  });

  it('ends at once when nothing runs, and is forgotten by the next life', async () => {
    const stage = await begun({ issues: [] });
    await stage.command('drain');
    await stage.clock.advance(0);
    await stage.orchestrator.closed;
    const next = await begun({ store: stage.store });
    expect(startedOf(next)).toEqual(['1']);
  });
});

describe('hold and release', () => {
  it('hold an issue that nobody works on, also over a restart, until it is released', async () => {
    const stage = await scene({ settings: quick, issues: [issue({ id: '1' })] });
    await stage.store.commands.submit({
      id: 'c-1',
      project: stage.project,
      kind: 'issue_hold',
      payload: { issue: 'T-1', reason: 'not yet' },
      author: { kind: 'person', name: 'me' },
      at: 0,
      key: null,
    });
    await stage.orchestrator.start();
    await stage.clock.advance(1_000);
    expect(startedOf(stage)).toEqual([]);
    const next = await scene({ settings: quick, issues: [issue({ id: '1' })], store: stage.store });
    await next.orchestrator.start();
    await next.clock.advance(1_000);
    expect(startedOf(next)).toEqual([]);
    expect(next.orchestrator.read().held).toMatchObject([
      { code: 'person', reason: 'not yet', issue: { identifier: 'T-1' } },
    ]);
    expect(await next.command('issue_release', { issue: 't-1' })).toMatchObject({ status: 'done' });
    await next.clock.advance(0);
    expect(startedOf(next)).toEqual(['1']);
    expect(await next.store.held.list(next.project)).toEqual([]);
  });

  it('by an agent are told apart from those of a person, and hold as firmly', async () => {
    const stage = await begun();
    await stage.store.commands.submit({
      ...{ id: 'c-9', project: stage.project, kind: 'issue_stop', payload: { issue: 'T-1' }, at: 0, key: null },
      author: { kind: 'run', runId: 'r' },
    });
    stage.orchestrator.wake();
    await stage.clock.advance(100);
    stage.runs[0]?.end();
    await stage.clock.advance(60_000);
    expect(stage.orchestrator.read().held).toMatchObject([
      { code: 'held_by_agent', reason: 'an agent stopped its run' },
    ]);
    expect(startedOf(stage)).toEqual(['1']);
    expect(await stage.command('issue_hold', { issue: 'T-1' })).toMatchObject({
      text: expect.stringContaining('held already'),
    });
  });

  it('let a run in progress end, and hold the issue then', async () => {
    const stage = await begun();
    expect(await stage.command('issue_hold', { issue: '1' })).toMatchObject({
      text: 'T-1 is held when its run has ended',
    });
    expect(stage.runs[0]?.stops).toEqual([]);
    stage.runs[0]?.succeed();
    await stage.clock.advance(60_000);
    expect(startedOf(stage)).toEqual(['1']);
    expect(stage.orchestrator.read().held).toHaveLength(1);
  });

  it('take a waiting retry away', async () => {
    const stage = await begun();
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    await stage.command('issue_hold', { issue: '1' });
    await stage.clock.advance(60_000);
    expect(startedOf(stage)).toEqual(['1']);
    expect(stage.orchestrator.read()).toMatchObject({ retrying: [], held: [{ issue: { id: '1' } }] });
  });
});

describe('stop', () => {
  it('ends the run and holds the issue', async () => {
    const stage = await begun();
    expect(await stage.command('issue_stop', { issue: 'T-1', reason: 'wrong branch' })).toMatchObject({
      status: 'done',
    });
    expect(stage.runs[0]?.stops).toEqual(['stopped_by_person']);
    stage.runs[0]?.cancel();
    await stage.clock.advance(60_000);
    expect(startedOf(stage)).toEqual(['1']);
    expect(stage.orchestrator.read().held).toMatchObject([{ reason: 'wrong branch' }]);
  });

  it('is refused where nothing runs', async () => {
    const stage = await begun();
    expect(await stage.command('issue_stop', { issue: '2' })).toMatchObject({
      status: 'refused',
      text: 'T-2 is not running',
    });
  });
});

describe('retry', () => {
  it('cuts a wait short and keeps its attempt', async () => {
    const stage = await begun();
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    expect(await stage.command('issue_retry', { issue: '1' })).toMatchObject({ status: 'done' });
    await stage.clock.advance(0);
    expect(stage.runs[1]?.request).toMatchObject({ attempt: 1, retryKind: 'failure' });
  });

  it('lifts a hold', async () => {
    const stage = await begun();
    stage.runs[0]?.fail('agent_input_required');
    await stage.clock.advance(1_000);
    expect(await stage.command('issue_retry', { issue: '1' })).toMatchObject({ status: 'done' });
    await stage.clock.advance(0);
    expect(startedOf(stage)).toEqual(['1', '1']);
  });

  it('is refused while it runs, and for an issue that waits for something else', async () => {
    const stage = await begun({
      settings: settings({ intervalMs: 100, agent: { maxConcurrentAgents: 1 } }),
      issues: [issue({ id: '1' }), issue({ id: '3' })],
    });
    expect(await stage.command('issue_retry', { issue: '1' })).toMatchObject({ text: 'T-1 is running' });
    expect(await stage.command('issue_retry', { issue: '3' })).toMatchObject({
      status: 'refused',
      text: 'T-3 is not waiting for a retry: no slot (1 of 1)',
    });
  });
});

describe('the door', () => {
  it('carries out what was written before the daemon started, in order, once', async () => {
    const stage = await scene({ settings: quick, issues: [issue({ id: '1' })] });
    for (const [index, kind] of ['pause', 'resume', 'pause'].entries()) {
      await stage.store.commands.submit({
        id: `c-${index}`,
        project: stage.project,
        kind,
        payload: {},
        author: { kind: 'person', name: 'me' },
        at: index,
        key: null,
      });
    }
    await stage.orchestrator.start();
    await stage.clock.advance(1_000);
    expect(startedOf(stage)).toEqual([]);
    const results = (await stage.store.commands.list(stage.project, 10)).map(({ kind, result }) => [
      kind,
      result?.status,
    ]);
    expect(results).toEqual([
      ['pause', 'done'],
      ['resume', 'done'],
      ['pause', 'done'],
    ]);
    const answers = stage.logger.lines.filter(({ event }) => event === 'command_answered');
    expect(answers).toHaveLength(3);
  });

  it.each([
    ['an unknown command', 'dance', {}, 'this version knows no command "dance"'],
    ['no issue', 'issue_hold', {}, 'the command names no issue'],
    [
      'an unknown issue',
      'issue_hold',
      { issue: 'T-404' },
      'there is no issue T-404 in an active state, and none of that name that Baton has worked on',
    ],
    ['an issue that is no text', 'issue_hold', { issue: 7 }, 'the command names no issue'],
  ])('refuses %s with the reason', async (_what, kind, payload, text) => {
    const stage = await begun();
    expect(await stage.command(kind, payload)).toMatchObject({ status: 'refused', text });
  });

  it('lets a command wait while the tracker cannot be asked, and carries it out later', async () => {
    const blockedBy = [{ id: '1', identifier: 'T-1', state: 'Todo' }];
    const stage = await begun({ issues: [issue({ id: '1' }), issue({ id: '2', state: 'Backlog', blockedBy })] });
    await stage.tracker.changes.moveIssue('2', 'Todo', { kind: 'orchestrator' });
    const { fetchByIds } = stage.tracker;
    stage.tracker.fetchByIds = async () => {
      throw new BatonError('tracker_request', 'no network');
    };
    expect(await stage.command('issue_hold', { issue: '2' })).toBeNull();
    stage.tracker.fetchByIds = fetchByIds.bind(stage.tracker);
    await stage.clock.advance(1_000);
    expect(stage.orchestrator.read().held).toMatchObject([{ issue: { id: '2' } }]);
  });
});

describe('a command about an issue that nobody will work on', () => {
  const onBoard = settings({
    intervalMs: 100,
    tracker: { kind: 'board', activeStates: ['todo', 'in_progress'], terminalStates: ['done', 'cancelled'] },
  });
  const kinds = ['issue_steer', 'issue_takeover', 'issue_handback', 'issue_retry'];

  it.each(kinds)('%s tells its state and the way back, and changes nothing', async (kind) => {
    const stage = await begun({
      issues: [issue({ id: '1', state: 'todo' }), issue({ id: '5', state: 'review' })],
      settings: onBoard,
      isLocal: true,
    });
    expect(await stage.command(kind, { issue: 't-5', text: 'hello' })).toMatchObject({
      status: 'refused',
      text: 'T-5 is in "review", which is not an active state. To have it worked on again: baton issue move T-5 todo',
    });
    expect(await stage.command(kind, { issue: 'T-99', text: 'hello' })).toMatchObject({
      status: 'refused',
      text: 'there is no issue T-99',
    });
    expect(stage.orchestrator.read()).toMatchObject({ held: [], retrying: [] });
  });

  it('finds it in a tracker elsewhere by the run it had, with one read', async () => {
    const stage = await begun();
    await stage.tracker.changes.moveIssue('1', 'Done', { kind: 'orchestrator' });
    stage.runs[0]?.succeed();
    await stage.clock.advance(5_000);
    stage.calls.length = 0;
    expect(await stage.command('issue_retry', { issue: 't-1' })).toMatchObject({
      status: 'refused',
      text: 'T-1 is in "Done", which is not an active state. To have it worked on again: move it to one of "Todo", "In Progress" in the tracker',
    });
    expect(stage.calls.filter(({ kind }) => kind === 'ids')).toMatchObject([{ asked: ['1'] }]);
  });

  it('does not keep a repeated handback from being told that it is done', async () => {
    const stage = await begun();
    await stage.command('issue_takeover', { issue: 'T-1' });
    stage.runs[0]?.end();
    await stage.clock.advance(0);
    expect(await stage.command('issue_handback', { issue: 'T-1' })).toMatchObject({ status: 'done' });
    await stage.clock.advance(0);
    await stage.tracker.changes.moveIssue('1', 'Backlog', { kind: 'orchestrator' });
    stage.runs[1]?.succeed();
    await stage.clock.advance(5_000);
    expect(await stage.command('issue_handback', { issue: 'T-1' })).toMatchObject({
      status: 'done',
      text: expect.stringContaining('was given back already'),
    });
  });
});

describe('steer', () => {
  it('is refused where nobody is at work, with what reaches the next agent', async () => {
    const stage = await begun({ settings: settings({ intervalMs: 100, tracker: { kind: 'board' } }) });
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    const told = { issue: 'T-1', text: 'mind the step' };
    expect(await stage.command('issue_steer', told)).toMatchObject({
      status: 'refused',
      text: 'no agent works on T-1 just now, and only one at work can be told. A comment on the issue reaches the next one (baton issue comment T-1 TEXT); to have that start now: baton issue retry T-1',
    });
    await stage.command('issue_takeover', { issue: 'T-1' });
    expect(await stage.command('issue_steer', told)).toMatchObject({
      status: 'refused',
      text: expect.stringContaining('baton handback T-1 --note TEXT'),
    });
  });

  it('points to the question that an issue is held with', async () => {
    const stage = await begun({ settings: settings({ intervalMs: 100, agent: { askTimeoutMs: 0 } }) });
    void stage.runs[0]?.request.ask({ kind: 'command', text: 'May I?', detail: 'make', fields: [] });
    await stage.clock.advance(1);
    stage.runs[0]?.end();
    await stage.clock.advance(0);
    expect(await stage.command('issue_steer', { issue: 'T-1', text: 'yes' })).toMatchObject({
      status: 'refused',
      text: expect.stringContaining('It waits for an answer: baton ask show T-1'),
    });
  });
});

describe('a trial', () => {
  it('is for the issues it names', async () => {
    const stage = await begun({
      issues: [issue({ id: '1' }), issue({ id: '3' })],
      trial: { only: ['t-3'], maxRuns: null },
    });
    expect(startedOf(stage)).toEqual(['3']);
    expect(stage.orchestrator.read().skipped).toMatchObject([
      { reason: { code: 'not_chosen', text: 'this trial is only for t-3' } },
    ]);
  });

  it('has so many runs, retries counted', async () => {
    const stage = await begun({ issues: [issue({ id: '1' }), issue({ id: '3' })], trial: { only: null, maxRuns: 1 } });
    expect(startedOf(stage)).toEqual(['1']);
    stage.runs[0]?.fail();
    await stage.clock.advance(60_000);
    expect(startedOf(stage)).toEqual(['1']);
  });

  it('that has had its run still finds that the issue is over, and gives it back', async () => {
    const stage = await begun({ settings: settings({ intervalMs: 3_600_000 }), trial: { only: null, maxRuns: 1 } });
    await stage.tracker.changes.moveIssue('1', 'Backlog', { kind: 'orchestrator' });
    stage.runs[0]?.succeed();
    await stage.clock.advance(2_000);
    expect(stage.orchestrator.read()).toMatchObject({ running: [], retrying: [] });
    expect(await stage.store.claims.held(stage.project, stage.clock.now())).toEqual([]);
  });

  it('that has had its run reads an issue that is still to be done once, and leaves the rest to the polls', async () => {
    const stage = await begun({ settings: settings({ intervalMs: 600_000 }), trial: { only: null, maxRuns: 1 } });
    stage.runs[0]?.succeed();
    stage.calls.length = 0;
    await stage.clock.advance(300_000);
    expect(stage.orchestrator.read().retrying).toMatchObject([{ waitReason: 'this trial has had its 1 run' }]);
    expect(stage.calls).toHaveLength(1);
    expect(startedOf(stage)).toEqual(['1']);
  });

  it('is previewed without starting anything', async () => {
    const stage = await scene({
      issues: [issue({ id: '1' }), issue({ id: '2', blockedBy: [{ id: '1', identifier: 'T-1', state: 'Todo' }] })],
    });
    const plan = await stage.orchestrator.preview();
    expect(plan.map(({ issue: { id }, reason }) => [id, reason?.text ?? 'starts'])).toEqual([
      ['1', 'starts'],
      ['2', 'it waits for T-1 (Todo)'],
    ]);
    expect(stage.runs).toEqual([]);
  });
});
