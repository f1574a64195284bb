import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import type { CommandOrigin, IssueEditor } from '../../src/tracker/tracker.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { telling } from '../telling.ts';
import { storeThrough } from './faulty-store.ts';
import { type Scene, scene } from './scene.ts';

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

interface Change {
  readonly kind: string;
  readonly given: readonly unknown[];
  readonly by: CommandOrigin;
}

/** A editor that knows T-1 alone, and notes what it is asked to change. */
function editor(changes: Change[]): IssueEditor {
  const change = (kind: string, given: readonly unknown[], by: CommandOrigin): Promise<string> => {
    changes.push({ kind, given, by });
    return Promise.resolve('T-1');
  };
  return {
    states: ['todo', 'review', 'done'],
    movesFrom: () => [
      { to: 'done', whyNot: null },
      { to: 'in_progress', whyNot: 'only the orchestrator may' },
      { to: 'todo', whyNot: null },
    ],
    file: async (fields, by) => ({ issue: await change('file', [fields], by), created: true }),
    edit: (name, fields, by) => change('edit', [name, fields], by),
    idOf: async () => '1',
    move: async (name, to, by) => ({ issue: await change('move', [name, to], by), moved: true }),
    comment: async (name, text, by) => ({ issue: await change('comment', [name, text], by), seq: 3, at: 0 }),
  };
}

describe('pause and resume', () => {
  it('start nothing new, let runs continue, and give each waiting issue the reason', async () => {
    const stage = await begun();
    expect(await stage.command('pause', { reason: 'budget' })).toMatchObject({
      status: 'done',
      code: 'paused',
      data: { runs: 1 },
    });
    await stage.tracker.changes.moveIssue('2', 'Todo', { kind: 'orchestrator' });
    await stage.clock.advance(1_000);
    expect(startedOf(stage)).toEqual(['1']);
    expect(stage.orchestrator.read().skipped.map(({ reason }) => reason)).toContainEqual({
      code: 'paused',
      text: telling('budget'),
    });
    expect(await stage.command('resume')).toMatchObject({ status: 'done', code: 'resumed' });
    await stage.clock.advance(0);
    expect(startedOf(stage)).toEqual(['1', '2']);
  });

  it('hold back a due retry, which is not forgotten', async () => {
    const stage = await begun();
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    await stage.command('pause');
    await stage.clock.advance(60_000);
    expect(startedOf(stage)).toEqual(['1']);
    expect(stage.orchestrator.read().retrying).toMatchObject([{ attempt: 1, waitCode: 'paused' }]);
    await stage.command('resume');
    await stage.clock.advance(1_000);
    expect(stage.runs[1]?.request).toMatchObject({ attempt: 1, retryKind: 'failure' });
  });

  // @conforms board.2
  it('last over a restart', async () => {
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
    expect(await stage.command('resume')).toMatchObject({ status: 'refused', code: 'not_paused' });
    await stage.command('pause');
    expect(await stage.command('pause')).toMatchObject({ status: 'refused', code: 'already_paused' });
    await stage.command('drain');
    expect(await stage.command('drain')).toMatchObject({ status: 'refused', code: 'already_draining' });
  });
});

describe('drain', () => {
  // @conforms board.3
  it('stops the orchestrator after its last run', async () => {
    const stage = await begun();
    let closed = false;
    void stage.orchestrator.closed.then(() => {
      closed = true;
    });
    expect(await stage.command('drain')).toMatchObject({ status: 'done', code: 'draining', data: { runs: 1 } });
    await stage.tracker.changes.moveIssue('2', 'Todo', { kind: 'orchestrator' });
    await stage.clock.advance(1_000);
    expect([closed, startedOf(stage)]).toEqual([false, ['1']]);
    stage.runs[0]?.succeed();
    await stage.clock.advance(100);
    expect(closed).toBe(true);
  });

  it('stops at once when nothing runs, and does not survive a restart', async () => {
    const stage = await begun({ issues: [] });
    await stage.command('drain');
    await stage.clock.advance(0);
    await stage.orchestrator.closed;
    const next = await begun({ store: stage.store });
    expect(startedOf(next)).toEqual(['1']);
  });
});

describe('hold and release', () => {
  // @conforms board.4
  it('hold a free issue, also over a restart, until it is released', async () => {
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
    expect(await next.command('issue_release', { issue: 't-1' })).toMatchObject({ status: 'done', code: 'released' });
    await next.clock.advance(0);
    expect(startedOf(next)).toEqual(['1']);
    expect(await next.store.held.list(next.project)).toEqual([]);
  });

  it('of an agent are distinguished from those of a person, and hold as firmly', async () => {
    const stage = await begun();
    await stage.store.commands.submit({
      id: 'c-9',
      project: stage.project,
      kind: 'issue_stop',
      payload: { issue: 'T-1' },
      at: 0,
      key: null,
      author: { kind: 'run', runId: stage.runs[0]?.request.runId ?? '' },
    });
    stage.orchestrator.wake();
    await stage.clock.advance(100);
    stage.runs[0]?.end();
    await stage.clock.advance(60_000);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'held_by_agent' }]);
    expect(startedOf(stage)).toEqual(['1']);
    expect(await stage.command('issue_hold', { issue: 'T-1' })).toMatchObject({
      status: 'done',
      code: 'already_held',
      data: { hold_code: 'held_by_agent' },
    });
  });

  it('let a run in progress end, and then hold the issue', async () => {
    const stage = await begun();
    expect(await stage.command('issue_hold', { issue: '1' })).toMatchObject({
      status: 'done',
      code: 'held_after_run',
    });
    expect(stage.runs[0]?.stops).toEqual([]);
    stage.runs[0]?.succeed();
    await stage.clock.advance(60_000);
    expect(startedOf(stage)).toEqual(['1']);
    expect(stage.orchestrator.read().held).toHaveLength(1);
  });

  it('cancel a hold that waits for the end of a run', async () => {
    const stage = await begun();
    await stage.command('issue_hold', { issue: '1' });
    expect(await stage.command('issue_release', { issue: '1' })).toMatchObject({
      status: 'done',
      code: 'released_after_run',
    });
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    expect(stage.orchestrator.read()).toMatchObject({ held: [], retrying: [{ issue: { id: '1' } }] });
  });

  it('are refused for an issue that is on hold for another reason, or not on hold', async () => {
    const stage = await begun();
    expect(await stage.command('issue_release', { issue: '1' })).toMatchObject({ status: 'refused', code: 'not_held' });
    stage.runs[0]?.fail('agent_input_required');
    await stage.clock.advance(1_000);
    expect(await stage.command('issue_hold', { issue: '1' })).toMatchObject({
      status: 'refused',
      code: 'held_for_another_reason',
      data: { hold_code: 'agent_input_required' },
    });
  });

  it('cancel a waiting retry', async () => {
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
      code: 'stopping',
    });
    expect(stage.runs[0]?.stops).toEqual(['stopped_by_person']);
    stage.runs[0]?.cancel();
    await stage.clock.advance(60_000);
    expect(startedOf(stage)).toEqual(['1']);
    expect(stage.orchestrator.read().held).toMatchObject([{ reason: 'wrong branch' }]);
  });

  it('is refused when nothing runs', async () => {
    const stage = await begun();
    expect(await stage.command('issue_stop', { issue: '2' })).toMatchObject({
      status: 'refused',
      code: 'not_running',
    });
  });
});

describe('retry', () => {
  it('ends a wait early and keeps its attempt', async () => {
    const stage = await begun();
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    expect(await stage.command('issue_retry', { issue: '1' })).toMatchObject({ status: 'done', code: 'retry_now' });
    await stage.clock.advance(0);
    expect(stage.runs[1]?.request).toMatchObject({ attempt: 1, retryKind: 'failure' });
  });

  it('lifts a hold', async () => {
    const stage = await begun();
    stage.runs[0]?.fail('agent_input_required');
    await stage.clock.advance(1_000);
    expect(await stage.command('issue_retry', { issue: '1' })).toMatchObject({ status: 'done', code: 'retry_now' });
    await stage.clock.advance(0);
    expect(startedOf(stage)).toEqual(['1', '1']);
  });

  it('is refused during a run, and for an issue that waits for something else', async () => {
    const stage = await begun({
      settings: settings({ intervalMs: 100, agent: { maxConcurrentAgents: 1 } }),
      issues: [issue({ id: '1' }), issue({ id: '3' })],
    });
    expect(await stage.command('issue_retry', { issue: '1' })).toMatchObject({
      status: 'refused',
      code: 'already_running',
    });
    expect(await stage.command('issue_retry', { issue: '3' })).toMatchObject({
      status: 'refused',
      code: 'not_waiting',
      data: { reason_code: 'project_full' },
    });
  });
});

describe('the command queue', () => {
  // @conforms board.5
  it('carries out the commands from before the start, in order, once', async () => {
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
    expect(answers.map(({ fields }) => fields?.code)).toEqual(['paused', 'resumed', 'paused']);
  });

  // @conforms board.6
  it.each([
    ['an unknown command', 'dance', {}, 'unknown_command'],
    ['no issue', 'issue_hold', {}, 'no_issue_named'],
    ['an unknown issue', 'issue_hold', { issue: 'T-404' }, 'active_issue_not_found'],
    ['an issue that is no text', 'issue_hold', { issue: 7 }, 'no_issue_named'],
  ])('refuses %s with the reason', async (_what, kind, payload, code) => {
    const stage = await begun();
    expect(await stage.command(kind, payload)).toMatchObject({ status: 'refused', code });
  });

  it('keeps a command waiting while the tracker cannot be read, and carries it out later', async () => {
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

describe('a command about an issue that is not active', () => {
  const onBoard = settings({
    intervalMs: 100,
    tracker: { activeStates: ['todo', 'in_progress'], terminalStates: ['done', 'cancelled'] },
  });
  const kinds = ['issue_steer', 'issue_takeover', 'issue_handback', 'issue_retry'];

  // @conforms runs.73
  it.each(kinds)('%s reports its state and how to make it active, and changes nothing', async (kind) => {
    const stage = await begun({
      issues: [issue({ id: '1', state: 'todo' }), issue({ id: '5', state: 'review' })],
      settings: onBoard,
      isLocal: true,
      issueEditor: editor([]),
    });
    expect(await stage.command(kind, { issue: 't-5', text: 'hello' })).toMatchObject({
      status: 'refused',
      code: 'issue_not_active',
      text: telling('baton issue move T-5 todo'),
      data: { state: 'review', move_to: ['todo'] },
    });
    expect(await stage.command(kind, { issue: 'T-99', text: 'hello' })).toMatchObject({
      status: 'refused',
      code: 'issue_not_found',
    });
    expect(stage.orchestrator.read()).toMatchObject({ held: [], retrying: [] });
  });

  it.each(['issue_hold', 'issue_takeover'])(
    'issue_retry keeps the hold that %s made, until it is active',
    async (kind) => {
      const moved = issue({ id: '1', state: 'todo' });
      const stage = await begun({ issues: [moved], settings: onBoard, isLocal: true, issueEditor: editor([]) });
      await stage.command(kind, { issue: '1' });
      stage.runs[0]?.end();
      await stage.clock.advance(0);
      stage.tracker.put({ ...moved, state: 'review' });
      await stage.clock.advance(1_000);
      const [held] = stage.orchestrator.read().held;
      expect(await stage.command('issue_retry', { issue: '1' })).toMatchObject({
        status: 'refused',
        code: 'issue_not_active',
        text: telling('baton issue move T-1 todo', 'baton issue retry T-1'),
        data: { state: 'review', move_to: ['todo'], hold_code: held?.code },
      });
      expect(stage.orchestrator.read().held).toEqual([held]);
      stage.tracker.put(moved);
      expect(await stage.command('issue_retry', { issue: '1' })).toMatchObject({ code: 'retry_now' });
      await stage.clock.advance(1_000);
      expect(stage.orchestrator.read()).toMatchObject({ held: [], running: [{ issue: { id: '1' } }] });
    },
  );

  it('finds it in a remote tracker by its earlier run, with one read', async () => {
    const stage = await begun();
    await stage.tracker.changes.moveIssue('1', 'Done', { kind: 'orchestrator' });
    stage.runs[0]?.succeed();
    await stage.clock.advance(5_000);
    stage.calls.length = 0;
    expect(await stage.command('issue_retry', { issue: 't-1' })).toMatchObject({
      status: 'refused',
      code: 'issue_not_active',
      data: { state: 'Done', move_to: ['Todo', 'In Progress'] },
    });
    expect(stage.calls.filter(({ kind }) => kind === 'ids')).toMatchObject([{ asked: ['1'] }]);
  });

  it('still reports a repeated handback as done', async () => {
    const stage = await begun();
    await stage.command('issue_takeover', { issue: 'T-1' });
    stage.runs[0]?.end();
    await stage.clock.advance(0);
    expect(await stage.command('issue_handback', { issue: 'T-1' })).toMatchObject({
      status: 'done',
      code: 'handed_back',
    });
    await stage.clock.advance(0);
    await stage.tracker.changes.moveIssue('1', 'Backlog', { kind: 'orchestrator' });
    stage.runs[1]?.succeed();
    await stage.clock.advance(5_000);
    expect(await stage.command('issue_handback', { issue: 'T-1' })).toMatchObject({
      status: 'done',
      code: 'already_handed_back',
      data: { by: 'me' },
    });
  });
});

describe('steer', () => {
  // @conforms runs.74
  it('is refused when no agent works, with the way to reach the next agent', async () => {
    const stage = await begun({ settings: settings({ intervalMs: 100 }), issueEditor: editor([]) });
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    const told = { issue: 'T-1', text: 'mind the step' };
    expect(await stage.command('issue_steer', told)).toMatchObject({
      status: 'refused',
      code: 'not_running',
      text: telling('baton issue comment T-1 TEXT', 'baton issue retry T-1'),
      data: { hold_code: null },
    });
    await stage.command('issue_takeover', { issue: 'T-1' });
    expect(await stage.command('issue_steer', told)).toMatchObject({
      status: 'refused',
      code: 'not_running',
      text: telling('baton handback T-1 --note TEXT'),
      data: { hold_code: 'taken_over' },
    });
  });

  it('points to the question that holds an issue', async () => {
    const stage = await begun({ settings: settings({ intervalMs: 100, agent: { askTimeoutMs: 0 } }) });
    void stage.runs[0]?.request.ask({ kind: 'command', text: 'May I?', detail: 'make', fields: [] });
    await stage.clock.advance(1);
    stage.runs[0]?.end();
    await stage.clock.advance(0);
    expect(await stage.command('issue_steer', { issue: 'T-1', text: 'yes' })).toMatchObject({
      status: 'refused',
      code: 'not_running',
      text: telling('baton ask show T-1'),
      data: { hold_code: 'agent_input_required' },
    });
  });
});

describe('a change of an issue on the board', () => {
  it.each([
    ['issue_file', { title: 'New' }, 'issue_filed', { issue: 'T-1', created: true }, [{ title: 'New' }]],
    ['issue_edit', { issue: 't-1', title: 'Better' }, 'issue_edited', { issue: 'T-1' }, ['t-1', { title: 'Better' }]],
    [
      'issue_move',
      { issue: 't-1', to: 'done' },
      'issue_moved',
      { issue: 'T-1', state: 'done', moved: true },
      ['t-1', 'done'],
    ],
    [
      'issue_comment',
      { issue: 't-1', text: 'Well done' },
      'comment_added',
      { issue: 'T-1', seq: 3, at: '1970-01-01T00:00:00.000Z' },
      ['t-1', 'Well done'],
    ],
  ])(
    '%s passes the request to the board, and answers with the changed issue',
    async (kind, wish, code, data, given) => {
      const changes: Change[] = [];
      const stage = await begun({ issueEditor: editor(changes) });
      expect(await stage.command(kind, { ...wish, reason: 'so' })).toMatchObject({ status: 'done', code, data });
      const by = { author: { kind: 'person', name: 'me' }, reason: 'so' };
      expect(changes).toMatchObject([{ kind: kind.replace('issue_', ''), given, by }]);
    },
  );

  it('is refused with the error code when the board does not allow it, and without an issue', async () => {
    const move = () => Promise.reject(new BatonError('board_move_refused', 'not from there'));
    const stage = await begun({ issueEditor: { ...editor([]), move } });
    expect(await stage.command('issue_move', { issue: 'T-1', to: 'done' })).toMatchObject({
      status: 'refused',
      code: 'board_move_refused',
    });
    expect(await stage.command('issue_edit', { title: 'x' })).toMatchObject({
      status: 'refused',
      code: 'no_issue_named',
    });
  });

  it('is refused when the issues are in another tracker', async () => {
    const stage = await begun();
    expect(await stage.command('issue_file', { title: 'x' })).toMatchObject({
      status: 'refused',
      code: 'tracker_elsewhere',
    });
  });

  it('writes no comment twice after a crash before its answer, and says that it may be there', async () => {
    const changes: Change[] = [];
    const before = (call: string): void => {
      if (call === 'commands.finish') throw new BatonError('store_unavailable', 'no store');
    };
    const stage = await begun({ issueEditor: editor(changes), through: (store) => storeThrough(store, { before }) });
    expect(await stage.command('issue_comment', { issue: 'T-1', text: 'Well done' })).toBeNull();
    stage.kill();
    const { store, clock, tracker } = stage;
    const next = await begun({ store, clock, tracker, issueEditor: editor(changes) });
    await clock.advance(1_000);
    expect((await store.commands.list(next.project, 9)).map(({ result }) => result)).toMatchObject([
      { status: 'done', code: 'comment_uncertain', data: { issue: 'T-1' } },
    ]);
    expect(changes).toHaveLength(1);
  });
});

describe('a trial', () => {
  it('runs only the issues that it names', async () => {
    const stage = await begun({
      issues: [issue({ id: '1' }), issue({ id: '3' })],
      trial: { only: ['t-3'], maxRuns: null },
    });
    expect(startedOf(stage)).toEqual(['3']);
    expect(stage.orchestrator.read().skipped).toMatchObject([{ reason: { code: 'not_chosen', text: telling('t-3') } }]);
  });

  it('has the given number of runs, including retries', async () => {
    const stage = await begun({ issues: [issue({ id: '1' }), issue({ id: '3' })], trial: { only: null, maxRuns: 1 } });
    expect(startedOf(stage)).toEqual(['1']);
    stage.runs[0]?.fail();
    await stage.clock.advance(60_000);
    expect(startedOf(stage)).toEqual(['1']);
  });

  // @conforms runs.72
  it('that has used its runs still finds that the issue is finished, and releases it', async () => {
    const stage = await begun({ settings: settings({ intervalMs: 3_600_000 }), trial: { only: null, maxRuns: 1 } });
    await stage.tracker.changes.moveIssue('1', 'Backlog', { kind: 'orchestrator' });
    stage.runs[0]?.succeed();
    await stage.clock.advance(2_000);
    expect(stage.orchestrator.read()).toMatchObject({ running: [], retrying: [] });
    expect(await stage.store.claims.held(stage.project, stage.clock.now())).toEqual([]);
  });

  it('that has used its runs reads an unfinished issue once, and leaves the rest to the polls', async () => {
    const stage = await begun({ settings: settings({ intervalMs: 600_000 }), trial: { only: null, maxRuns: 1 } });
    stage.runs[0]?.succeed();
    stage.calls.length = 0;
    await stage.clock.advance(300_000);
    expect(stage.orchestrator.read().retrying).toMatchObject([{ waitCode: 'not_chosen', waitReason: telling(1) }]);
    expect(stage.calls).toHaveLength(1);
    expect(startedOf(stage)).toEqual(['1']);
  });

  it('is previewed without starting anything', async () => {
    const stage = await scene({
      issues: [issue({ id: '1' }), issue({ id: '2', blockedBy: [{ id: '1', identifier: 'T-1', state: 'Todo' }] })],
    });
    const plan = await stage.orchestrator.preview();
    expect(plan.map(({ issue: { id }, reason }) => [id, reason])).toEqual([
      ['1', null],
      ['2', { code: 'blocked', text: telling('T-1', 'Todo') }],
    ]);
    expect(stage.runs).toEqual([]);
  });
});

describe("a command from the daemon's own process", () => {
  const submit = async ({ store, project, clock }: Scene, kind: string, payload: Record<string, unknown> = {}) => {
    const draft = { id: `${kind}-1`, project, kind, payload, key: null, at: clock.now() };
    return (await store.commands.submit({ ...draft, author: { kind: 'person', name: 'me' } })).command;
  };

  it('is answered by a promise', async () => {
    const stage = await begun();
    await stage.clock.advance(0);
    const answer = stage.orchestrator.carryOut(await submit(stage, 'pause'));
    await stage.clock.advance(0);
    expect(await answer).toMatchObject({ status: 'done', code: 'paused' });
    expect(stage.orchestrator.read().paused).toMatchObject({ kind: 'pause' });
  });

  it('is answered also when it was carried out before it was awaited', async () => {
    const stage = await begun();
    const command = await submit(stage, 'pause');
    stage.orchestrator.wake();
    await stage.clock.advance(0);
    const answer = stage.orchestrator.carryOut(command);
    await stage.clock.advance(0);
    expect(await answer).toMatchObject({ code: 'paused' });
  });

  it('has no answer when the daemon stops first', async () => {
    const stage = await begun({ issues: [] });
    const command = await submit(stage, 'pause');
    const answer = stage.orchestrator.carryOut(command);
    void stage.orchestrator.stop();
    expect(await answer).toBeNull();
    expect(await stage.orchestrator.carryOut(command)).toBeNull();
    expect((await stage.store.commands.read(command.id))?.result).toBeNull();
  });
});
