import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { telling } from '../telling.ts';
import { scene } from './scene.ts';

const started = (stage: Awaited<ReturnType<typeof scene>>): string[] =>
  stage.runs.map(({ request }) => request.issue.id);

describe('dispatch', () => {
  // @conforms 1.1
  it('polls at once and then by the interval; ticks come every five seconds without a request', async () => {
    const stage = await scene({ settings: settings({ intervalMs: 30_000 }) });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    expect(stage.orchestrator.read().polling).toMatchObject({ ticks: 1, pollCheckInProgress: false });
    await stage.clock.advance(29_999);
    expect([stage.calls.length, stage.orchestrator.read().polling.ticks]).toEqual([1, 6]);
    await stage.clock.advance(3_001);
    expect([stage.calls.length, stage.orchestrator.read().polling.ticks]).toEqual([2, 7]);
  });

  // @conforms scheduling.4
  it('starts issues in order until the slots are taken, and keeps a reason for each other issue', async () => {
    const stage = await scene({
      issues: [issue({ id: '1', priority: 3 }), issue({ id: '2', priority: 1 }), issue({ id: '3', priority: 2 })],
      settings: settings({ agent: { maxConcurrentAgents: 2 } }),
    });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    expect(started(stage)).toEqual(['2', '3']);
    expect(stage.orchestrator.read().skipped.map(({ issue: { id }, reason }) => [id, reason])).toEqual([
      ['1', { code: 'project_full', text: telling(2) }],
    ]);
  });

  // @conforms 2.1
  it('never starts an issue twice, whatever the number of ticks', async () => {
    const stage = await scene({ issues: [issue({ id: '1' })], settings: settings({ intervalMs: 10 }) });
    await stage.orchestrator.start();
    await stage.clock.advance(1_000);
    expect(started(stage)).toEqual(['1']);
  });

  // @conforms 2.7
  it('counts slots by the current state of an issue', async () => {
    const stage = await scene({
      issues: [issue({ id: '1' }), issue({ id: '2' })],
      settings: settings({ intervalMs: 100, agent: { maxConcurrentAgentsByState: { todo: 1 } } }),
    });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    expect(started(stage)).toEqual(['1']);
    await stage.tracker.changes.moveIssue('1', 'In Progress', { kind: 'orchestrator' });
    await stage.clock.advance(100);
    expect(started(stage)).toEqual(['1', '2']);
  });

  // @conforms scheduling.3
  it('gives a freed slot to the next issue at once, not at the next poll', async () => {
    const stage = await scene({
      issues: [issue({ id: '1' }), issue({ id: '2' })],
      settings: settings({ intervalMs: 3_600_000, agent: { maxConcurrentAgents: 1 } }),
    });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    await stage.tracker.changes.moveIssue('1', 'Done', { kind: 'orchestrator' });
    stage.runs[0]?.succeed();
    await stage.clock.advance(0);
    expect(started(stage)).toEqual(['1', '2']);
  });

  // @conforms 1.11
  it('starts nothing while the workflow file is bad, shows the reason, and continues when it is fixed', async () => {
    const stage = await scene({ issues: [issue({ id: '1' })], settings: settings({ intervalMs: 100 }) });
    stage.file.problem = new BatonError('invalid_workflow_config', 'polling.interval_ms is bad');
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    expect(started(stage)).toEqual([]);
    expect(stage.orchestrator.read().workflowProblem?.code).toBe('invalid_workflow_config');
    stage.file.problem = null;
    await stage.clock.advance(100);
    expect(started(stage)).toEqual(['1']);
  });

  // @conforms 1.2
  it('uses a changed interval after the next tick', async () => {
    const stage = await scene({ settings: settings({ intervalMs: 1_000 }) });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    stage.file.settings = settings({ intervalMs: 50 });
    await stage.clock.advance(999);
    expect(stage.orchestrator.read().polling.ticks).toBe(1);
    await stage.clock.advance(51);
    expect(stage.orchestrator.read().polling.ticks).toBe(3);
  });
});

describe('a run that ended', () => {
  it('well is checked after a second and continues while the issue is active', async () => {
    const stage = await scene({ issues: [issue({ id: '1' })] });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    stage.runs[0]?.succeed();
    await stage.clock.advance(999);
    expect(started(stage)).toEqual(['1']);
    await stage.clock.advance(1);
    expect(stage.runs[1]?.request).toMatchObject({ attempt: 1, retryKind: 'continuation' });
  });

  it('well releases its claim when the issue is finished', async () => {
    const stage = await scene({ issues: [issue({ id: '1' })] });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    await stage.tracker.changes.moveIssue('1', 'Done', { kind: 'orchestrator' });
    stage.runs[0]?.succeed();
    await stage.clock.advance(60_000);
    expect(started(stage)).toEqual(['1']);
    expect(stage.orchestrator.read()).toMatchObject({ running: [], retrying: [], held: [] });
  });

  it('with a failure waits for its backoff, however many ticks come', async () => {
    const stage = await scene({ issues: [issue({ id: '1' })], settings: settings({ intervalMs: 100 }) });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    stage.runs[0]?.fail();
    await stage.clock.advance(9_999);
    expect(started(stage)).toEqual(['1']);
    await stage.clock.advance(1_002);
    expect(stage.runs[1]?.request).toMatchObject({ attempt: 1, retryKind: 'failure' });
    stage.runs[1]?.fail();
    await stage.clock.advance(19_999);
    expect(started(stage)).toHaveLength(2);
    await stage.clock.advance(2_002);
    expect(stage.runs[2]?.request).toMatchObject({ attempt: 2, retryKind: 'failure' });
  });

  // @conforms X12
  it('and waits for a slot raises neither the attempt nor the delay', async () => {
    const stage = await scene({
      issues: [issue({ id: '1' }), issue({ id: '2', state: 'Backlog' })],
      settings: settings({ intervalMs: 100, agent: { maxConcurrentAgents: 1 } }),
    });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    stage.runs[0]?.fail();
    await stage.tracker.changes.moveIssue('2', 'Todo', { kind: 'orchestrator' });
    await stage.clock.advance(60_000);
    expect(started(stage)).toEqual(['1', '2']);
    expect(stage.orchestrator.read().retrying).toMatchObject([
      { attempt: 1, error: 'it ended: agent_exited', waitCode: 'project_full' },
    ]);
    stage.runs[1]?.succeed();
    await stage.tracker.changes.moveIssue('2', 'Done', { kind: 'orchestrator' });
    await stage.clock.advance(2_000);
    expect(stage.runs[2]?.request).toMatchObject({ issue: { id: '1' }, attempt: 1, retryKind: 'failure' });
  });

  // @conforms 4.19
  it('gets a freed slot before issues that never started', async () => {
    const stage = await scene({
      issues: [issue({ id: '1' }), issue({ id: '2', state: 'Backlog' }), issue({ id: '3', state: 'Backlog' })],
      settings: settings({ intervalMs: 3_600_000, agent: { maxConcurrentAgents: 1 } }),
    });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    await stage.tracker.changes.moveIssue('2', 'Todo', { kind: 'orchestrator' });
    stage.orchestrator.refresh();
    await stage.clock.advance(0);
    await stage.tracker.changes.moveIssue('3', 'Todo', { kind: 'orchestrator' });
    stage.orchestrator.refresh();
    await stage.clock.advance(12_300);
    expect(started(stage)).toEqual(['1', '2']);
    await stage.tracker.changes.moveIssue('2', 'Done', { kind: 'orchestrator' });
    stage.runs[1]?.succeed();
    await stage.clock.advance(0);
    expect(started(stage)).toEqual(['1', '2', '1']);
  });

  // @conforms history-23
  it('with a question is held, not retried, and released when a person moves the issue', async () => {
    const stage = await scene({ issues: [issue({ id: '1' })], settings: settings({ intervalMs: 100 }) });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    stage.runs[0]?.fail('agent_input_required');
    await stage.clock.advance(600_000);
    expect(started(stage)).toEqual(['1']);
    expect(stage.orchestrator.read().held).toHaveLength(1);
    await stage.tracker.changes.moveIssue('1', 'Backlog', { kind: 'orchestrator' });
    await stage.clock.advance(100);
    expect(stage.orchestrator.read().held).toEqual([]);
    await stage.tracker.changes.moveIssue('1', 'Todo', { kind: 'orchestrator' });
    await stage.clock.advance(100);
    expect(started(stage)).toEqual(['1', '1']);
  });
});

describe('reconcile', () => {
  // @conforms 1.9, 2.13
  it.each([
    ['Done', 'terminal_state'],
    ['Backlog', 'inactive_state'],
  ])('stops a run whose issue went to %s, and keeps its slot until it is gone', async (state, reason) => {
    const stage = await scene({ issues: [issue({ id: '1' })], settings: settings({ intervalMs: 100 }) });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    await stage.tracker.changes.moveIssue('1', state, { kind: 'orchestrator' });
    await stage.clock.advance(500);
    expect(stage.runs[0]?.stops).toEqual([reason]);
    expect(stage.orchestrator.read().slots.used).toBe(1);
    stage.runs[0]?.cancel();
    await stage.clock.advance(0);
    expect(stage.orchestrator.read()).toMatchObject({ running: [], retrying: [] });
  });

  // @conforms 4.43
  it('lets a run finish for a minute after it moved its own issue', async () => {
    const stage = await scene({ issues: [issue({ id: '1' })], settings: settings({ intervalMs: 100 }) });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    stage.runs[0]?.request.report({ kind: 'moved', to: ' done ' });
    await stage.tracker.changes.moveIssue('1', 'Done', { kind: 'run', runId: 'x' });
    await stage.clock.advance(59_000);
    expect(stage.runs[0]?.stops).toEqual([]);
    await stage.clock.advance(2_000);
    expect(stage.runs[0]?.stops).toEqual(['terminal_state']);
  });

  it('stops a run at once when another user moves its issue further', async () => {
    const stage = await scene({ issues: [issue({ id: '1' })], settings: settings({ intervalMs: 100 }) });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    stage.runs[0]?.request.report({ kind: 'moved', to: 'In Progress' });
    await stage.tracker.changes.moveIssue('1', 'Backlog', { kind: 'person', name: 'me' });
    await stage.clock.advance(100);
    expect(stage.runs[0]?.stops).toEqual(['inactive_state']);
  });

  it('stops a run whose issue is gone', async () => {
    const stage = await scene({ issues: [issue({ id: '1' })], settings: settings({ intervalMs: 100 }) });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    stage.tracker.remove('1');
    await stage.clock.advance(100);
    expect(stage.runs[0]?.stops).toEqual(['issue_missing']);
  });

  // @conforms 1.10
  it('changes nothing when the tracker does not answer', async () => {
    const stage = await scene({ issues: [issue({ id: '1' })], settings: settings({ intervalMs: 100 }) });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    stage.tracker.fetchByIds = async () => {
      throw new BatonError('tracker_status', 'HTTP 502');
    };
    stage.tracker.fetchByStates = async () => {
      throw new BatonError('tracker_status', 'HTTP 502');
    };
    await stage.clock.advance(1_000);
    expect(stage.runs[0]?.stops).toEqual([]);
    expect(stage.orchestrator.read().errors).toMatchObject([
      { step: 'reconcile', error: { code: 'tracker_status' } },
      { step: 'dispatch', error: { code: 'tracker_status' } },
    ]);
  });

  // @conforms X1
  it('stops a stalled run, which waits for its backoff although slots are free', async () => {
    const stage = await scene({
      issues: [issue({ id: '1' })],
      settings: settings({ intervalMs: 100, agent: { stallTimeoutMs: 1_000 } }),
    });
    await stage.orchestrator.start();
    await stage.clock.advance(900);
    stage.runs[0]?.request.report({
      kind: 'event',
      event: { name: 'notification', at: stage.clock.now(), pid: 1, summary: 'alive' },
    });
    await stage.clock.advance(900);
    expect(stage.runs[0]?.stops).toEqual([]);
    await stage.clock.advance(5_000);
    expect(stage.runs[0]?.stops).toEqual(['stalled']);
    stage.runs[0]?.cancel();
    await stage.clock.advance(9_500);
    expect(started(stage)).toEqual(['1']);
    await stage.clock.advance(2_000);
    expect(stage.runs[1]?.request).toMatchObject({ attempt: 1, retryKind: 'failure' });
  });

  it('shows what an agent did last, not that it reported tokens', async () => {
    const stage = await scene({ issues: [issue({ id: '1' })] });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    const report = (at: number, summary: string, payload: unknown) =>
      stage.runs[0]?.request.report({ kind: 'event', event: { name: 'notification', at, pid: 1, summary, payload } });
    report(1, 'edits the file', {});
    report(2, 'token usage', { method: 'thread/tokenUsage/updated' });
    expect(stage.orchestrator.read().running[0]?.lastEvent).toMatchObject({ at: 2, summary: 'edits the file' });
    report(3, 'runs the tests', {});
    expect(stage.orchestrator.read().running[0]?.lastEvent).toMatchObject({ at: 3, summary: 'runs the tests' });
  });

  // @conforms scheduling.5
  it('stalls no run when the wall clock is set', async () => {
    const stage = await scene({ issues: [issue({ id: '1' })], settings: settings({ intervalMs: 100 }) });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    stage.clock.jumpWall(24 * 3_600_000);
    await stage.clock.advance(1_000);
    expect(stage.runs[0]?.stops).toEqual([]);
  });
});

describe('totals', () => {
  // @conforms 5.1
  it('grow by the increase of running totals, and a lower figure changes nothing', async () => {
    const stage = await scene({ issues: [issue({ id: '1' })] });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    const report = (inputTokens: number, outputTokens: number): void =>
      stage.runs[0]?.request.report({
        kind: 'event',
        event: {
          name: 'notification',
          at: 0,
          pid: 1,
          summary: '',
          usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
        },
      });
    report(100, 10);
    report(100, 10);
    report(40, 4);
    report(250, 30);
    expect(stage.orchestrator.read().totals).toMatchObject({ inputTokens: 250, outputTokens: 30, totalTokens: 280 });
  });
});

describe('stopping', () => {
  // @conforms 4.26
  it('starts nothing new, stops every run, and resolves when all are gone', async () => {
    const stage = await scene({
      issues: [issue({ id: '1' }), issue({ id: '2' })],
      settings: settings({ intervalMs: 100 }),
    });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    let closed = false;
    void stage.orchestrator.closed.then(() => {
      closed = true;
    });
    const stopping = stage.orchestrator.stop();
    await stage.clock.advance(1_000);
    expect(stage.runs.map(({ stops }) => stops)).toEqual([['shutdown'], ['shutdown']]);
    stage.runs[0]?.cancel();
    await stage.clock.advance(1_000);
    expect(closed).toBe(false);
    stage.runs[1]?.cancel();
    await stopping;
    expect(closed).toBe(true);
    expect(stage.clock.pending).toBe(0);
    expect(started(stage)).toHaveLength(2);
  });

  // @conforms 4.25
  it('during a tick ends the tick and starts nothing of it', async () => {
    const stage = await scene({ issues: [issue({ id: '1' })] });
    let answer: (issues: []) => void = () => {};
    stage.tracker.fetchByStates = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    expect(stage.orchestrator.read().polling.pollCheckInProgress).toBe(true);
    const stopping = stage.orchestrator.stop();
    answer([]);
    await stage.clock.settle();
    await stopping;
    expect(stage.runs).toEqual([]);
  });

  it('does not wait forever for a tracker that never answers', async () => {
    const stage = await scene();
    stage.tracker.fetchByStates = () => new Promise(() => {});
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    const stopping = stage.orchestrator.stop();
    await stage.clock.advance(5_000);
    await stopping;
  });

  it('twice is the same as once', async () => {
    const stage = await scene();
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    await Promise.all([stage.orchestrator.stop(), stage.orchestrator.stop()]);
    stage.orchestrator.refresh();
    expect(stage.clock.pending).toBe(0);
  });
});

it('a watcher that throws does not stop the orchestrator', async () => {
  const stage = await scene({ issues: [issue({ id: '1' })] });
  stage.orchestrator.onChange(() => {
    throw new Error('the screen is broken');
  });
  await stage.orchestrator.start();
  await stage.clock.advance(0);
  expect(started(stage)).toEqual(['1']);
  expect(stage.logger.events()).toContain('orchestrator_watcher_failed');
});
