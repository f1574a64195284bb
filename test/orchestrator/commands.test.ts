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
    const answers = stage.logger.lines.filter(({ message }) => message === 'A command was answered.');
    expect(answers).toHaveLength(3);
  });

  it.each([
    ['an unknown command', 'dance', {}, 'this version knows no command "dance"'],
    ['no issue', 'issue_hold', {}, 'the command names no issue'],
    ['an unknown issue', 'issue_hold', { issue: 'T-404' }, 'there is no issue "T-404" that Baton could work on'],
    ['an issue that is no text', 'issue_hold', { issue: 7 }, 'the command names no issue'],
  ])('refuses %s with the reason', async (_what, kind, payload, text) => {
    const stage = await begun();
    expect(await stage.command(kind, payload)).toMatchObject({ status: 'refused', text });
  });

  it('lets a command wait while the tracker cannot be asked, and carries it out later', async () => {
    const stage = await begun();
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
