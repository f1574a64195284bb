import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { storeThrough } from './faulty-store.ts';
import { begun, type Scene, scene } from './scene.ts';

describe('a person who takes over an issue', () => {
  it('gets it when its agent has ended, keeps it, and hands it back with the same conversation', async () => {
    const stage = await begun();
    stage.runs[0]?.request.report({ kind: 'session', threadId: 'thread-1' });
    expect(await stage.command('issue_takeover', { issue: '1' })).toMatchObject({
      status: 'done',
      code: 'taking_over_after_run',
    });
    expect(stage.runs[0]?.stops).toEqual(['taken_over']);
    expect(await stage.command('issue_handback', { issue: '1' })).toMatchObject({
      status: 'refused',
      code: 'run_ending',
    });
    stage.runs[0]?.end();
    await stage.clock.advance(60_000);
    expect(stage.orchestrator.read()).toMatchObject({
      running: [],
      held: [{ code: 'taken_over', reason: expect.stringContaining('baton handback') }],
    });
    expect(await stage.command('issue_takeover', { issue: '1' })).toMatchObject({
      status: 'done',
      code: 'already_taken_over',
    });
    expect(await stage.command('issue_handback', { issue: '1', note: 'I mended the door.' })).toMatchObject({
      status: 'done',
      code: 'handed_back',
    });
    await stage.clock.advance(0);
    expect(stage.runs[1]?.request).toMatchObject({
      threadId: 'thread-1',
      retryKind: 'handed_back',
      messages: [{ kind: 'note', body: 'I mended the door.' }],
      attempt: null,
    });
    expect(stage.orchestrator.read().held).toEqual([]);
  });

  it('may take over a waiting issue, and one that is held for another reason', async () => {
    const stage = await begun();
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    expect(stage.orchestrator.read().retrying).toHaveLength(1);
    expect(await stage.command('issue_takeover', { issue: '1' })).toMatchObject({ status: 'done', code: 'taken_over' });
    expect(stage.orchestrator.read()).toMatchObject({ retrying: [], held: [{ code: 'taken_over' }] });
    await stage.clock.advance(60_000);
    expect(stage.runs).toHaveLength(1);
    await stage.command('issue_handback', { issue: '1' });
    await stage.clock.advance(0);
    await stage.command('issue_stop', { issue: '1' });
    stage.runs[1]?.end();
    await stage.clock.advance(0);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'person' }]);
    expect(await stage.command('issue_handback', { issue: '1' })).toMatchObject({
      status: 'refused',
      code: 'not_taken_over',
    });
    expect(await stage.command('issue_takeover', { issue: '1' })).toMatchObject({ status: 'done', code: 'taken_over' });
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'taken_over' }]);
  });

  it('can only steer a running issue', async () => {
    const stage = await begun();
    expect(await stage.command('issue_steer', { issue: '1', text: 'Use the other door.' })).toMatchObject({
      status: 'done',
      code: 'message_delivered',
    });
    expect(stage.runs[0]?.heard).toEqual(['Use the other door.']);
    expect(await stage.command('issue_steer', { issue: '1', text: ' ' })).toMatchObject({
      status: 'refused',
      code: 'nothing_to_say',
    });
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    expect(await stage.command('issue_steer', { issue: '1', text: 'Hello?' })).toMatchObject({
      status: 'refused',
      code: 'not_running',
    });
  });

  it('learns when the agent gets a message only at its next turn', async () => {
    const stage = await begun({ steering: 'queued' });
    expect(await stage.command('issue_steer', { issue: '1', text: 'Use the other door.' })).toMatchObject({
      status: 'done',
      code: 'message_waits_for_turn',
    });
    expect(stage.runs[0]?.heard).toEqual(['Use the other door.']);
  });

  // @conforms runs.23
  it('keeps the issue, also while it is in no active state', async () => {
    const stage = await begun();
    await stage.command('issue_takeover', { issue: '1' });
    stage.runs[0]?.end();
    await stage.clock.advance(0);
    await stage.tracker.changes.moveIssue('1', 'Backlog', { kind: 'orchestrator' });
    await stage.clock.advance(1_000);
    await stage.tracker.changes.moveIssue('1', 'Todo', { kind: 'orchestrator' });
    await stage.clock.advance(10_000);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'taken_over' }]);
    expect(stage.runs).toHaveLength(1);
    await stage.tracker.changes.moveIssue('1', 'Done', { kind: 'orchestrator' });
    await stage.clock.advance(1_000);
    expect(stage.orchestrator.read().held).toEqual([]);
  });

  it('keeps the issue, whatever other hold follows its run', async () => {
    const stage = await begun();
    await stage.command('issue_takeover', { issue: '1' });
    await stage.command('issue_stop', { issue: '1' });
    await stage.command('issue_hold', { issue: '1' });
    stage.runs[0]?.end();
    await stage.clock.advance(0);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'taken_over' }]);
    expect(await stage.command('issue_handback', { issue: '1' })).toMatchObject({ status: 'done' });
  });

  it('gets the same conversation, also when the next run died before its session', async () => {
    const stage = await begun();
    stage.runs[0]?.request.report({ kind: 'session', threadId: 'thread-1' });
    await stage.command('issue_takeover', { issue: '1' });
    stage.runs[0]?.end();
    await stage.clock.advance(0);
    await stage.command('issue_handback', { issue: '1' });
    await stage.clock.advance(0);
    expect(stage.runs[1]?.request.threadId).toBe('thread-1');
    await stage.command('issue_takeover', { issue: '1' });
    stage.runs[1]?.end();
    await stage.clock.advance(0);
    await stage.command('issue_handback', { issue: '1' });
    await stage.clock.advance(0);
    expect(stage.runs[2]?.request.threadId).toBe('thread-1');
  });
});

function wordsOf(stage: Scene, run: number): readonly string[] | undefined {
  return stage.runs[run]?.request.messages.map(({ body }) => body);
}

describe('the note of a handback', () => {
  const note = 'I mended the door.';
  const begins = (stage: Scene): void =>
    stage.runs.at(-1)?.request.report({ kind: 'prompt_delivered', hasComments: true });

  /** One run has ended, the issue was taken over, and is given back with a note: the run that is to tell it has begun. */
  async function handedBack(): Promise<Scene> {
    const stage = await begun();
    await stage.command('issue_takeover', { issue: '1' });
    stage.runs[0]?.end();
    await stage.clock.advance(0);
    await stage.command('issue_handback', { issue: '1', note });
    await stage.clock.advance(0);
    expect(wordsOf(stage, 1)).toEqual([note]);
    return stage;
  }

  // @conforms runs.64
  it('reaches each run until one that had it ended well, and no other', async () => {
    const stage = await handedBack();
    stage.runs[1]?.fail();
    await stage.clock.advance(20_000);
    expect(wordsOf(stage, 2)).toEqual([note]);
    begins(stage);
    stage.runs[2]?.fail();
    await stage.clock.advance(60_000);
    expect(wordsOf(stage, 3)).toEqual([note]);
    // It ends well, but its agent never had the prompt.
    stage.runs[3]?.succeed();
    await stage.clock.advance(60_000);
    expect(wordsOf(stage, 4)).toEqual([note]);
    begins(stage);
    stage.runs[4]?.succeed();
    await stage.clock.advance(60_000);
    expect(wordsOf(stage, 5)).toEqual([]);
  });

  it('survives a daemon that is killed before or in the first turn', async () => {
    const stage = await handedBack();
    stage.kill();
    const next = await scene({ store: stage.store, clock: stage.clock, tracker: stage.tracker });
    await next.orchestrator.start();
    await next.clock.advance(10_000);
    expect(wordsOf(next, 0)).toEqual([note]);
    begins(next);
    await next.clock.advance(0);
    next.kill();
    const last = await scene({ store: stage.store, clock: stage.clock, tracker: stage.tracker });
    await last.orchestrator.start();
    await last.clock.advance(10_000);
    expect(last.runs[0]?.request).toMatchObject({ messages: [{ body: note }], retryKind: 'interrupted' });
  });

  it('survives a hold, and comes before the next note', async () => {
    const stage = await handedBack();
    await stage.command('issue_takeover', { issue: '1' });
    stage.runs[1]?.end();
    await stage.clock.advance(0);
    await stage.command('issue_handback', { issue: '1', note: 'And the window.' });
    await stage.clock.advance(0);
    expect(wordsOf(stage, 2)).toEqual([note, 'And the window.']);
    stage.runs[2]?.fail('agent_auth_failed');
    await stage.clock.advance(0);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'agent_auth_failed' }]);
    await stage.command('issue_retry', { issue: '1' });
    await stage.clock.advance(1_000);
    expect(wordsOf(stage, 3)).toEqual([note, 'And the window.']);
  });

  it('is not lost when the issue is held before its run begins', async () => {
    const stage = await begun();
    await stage.command('issue_takeover', { issue: '1' });
    stage.runs[0]?.end();
    await stage.clock.advance(0);
    await stage.command('pause');
    await stage.command('issue_handback', { issue: '1', note });
    await stage.command('issue_hold', { issue: '1' });
    await stage.command('resume');
    await stage.command('issue_release', { issue: '1' });
    await stage.clock.advance(1_000);
    expect(wordsOf(stage, 1)).toEqual([note]);
  });
});

describe('a repeated command', () => {
  // @conforms runs.58
  it('finds the issue already handed back, says by whom, and does nothing', async () => {
    const stage = await begun();
    expect(await stage.command('issue_handback', { issue: '1' })).toMatchObject({
      status: 'refused',
      code: 'not_taken_over',
    });
    await stage.command('issue_takeover', { issue: '1' });
    stage.runs[0]?.end();
    await stage.clock.advance(0);
    await stage.command('issue_handback', { issue: 'T-1', note: 'once' });
    const again = { status: 'done', code: 'already_handed_back', data: { by: 'me' } };
    expect(await stage.command('issue_handback', { issue: '1', note: 'once' })).toMatchObject(again);
    stage.runs[1]?.succeed();
    await stage.clock.advance(5_000);
    expect(await stage.command('issue_handback', { issue: '1' })).toMatchObject(again);
    expect(stage.orchestrator.read()).toMatchObject({ held: [], running: [{ issue: { id: '1' } }] });
    expect(stage.runs.slice(2).map(({ request }) => request.retryKind)).not.toContain('handed_back');
  });

  it('finds the run already stopped, says by whom, and keeps the first reason', async () => {
    const stage = await begun();
    await stage.command('issue_stop', { issue: '1', reason: 'wrong branch' });
    expect(await stage.command('issue_stop', { issue: '1' })).toMatchObject({
      status: 'done',
      code: 'already_stopping',
    });
    stage.runs[0]?.end();
    await stage.clock.advance(0);
    expect(await stage.command('issue_stop', { issue: '1' })).toMatchObject({
      status: 'done',
      code: 'already_stopped',
      data: { by: 'me' },
    });
    expect(await stage.command('issue_hold', { issue: '1' })).toMatchObject({
      status: 'done',
      code: 'already_held',
      data: { hold_code: 'person', reason: 'wrong branch' },
    });
    await stage.command('issue_release', { issue: '1' });
    await stage.clock.advance(1_000);
    expect(await stage.command('issue_release', { issue: '1' })).toMatchObject({
      status: 'done',
      code: 'already_released',
      data: { by: 'me' },
    });
    stage.runs[1]?.fail();
    await stage.clock.advance(0);
    expect(await stage.command('issue_stop', { issue: '1' })).toMatchObject({
      status: 'refused',
      code: 'not_running',
    });
  });

  /** A daemon that cannot write the answer of any command. */
  async function withoutAnswers(): Promise<{ readonly stage: Scene; readonly mend: () => void }> {
    let isBroken = true;
    const before = (call: string): void => {
      if (isBroken && call === 'commands.finish') throw new BatonError('store_unavailable', 'no store');
    };
    const stage = await begun({ through: (store) => storeThrough(store, { before }) });
    return {
      stage,
      mend: () => {
        isBroken = false;
      },
    };
  }
  const secondLife = async ({ store, clock, tracker }: Scene): Promise<Scene> => {
    const next = await scene({ store, clock, tracker });
    await next.orchestrator.start();
    await next.clock.advance(10_000);
    return next;
  };
  const answers = async ({ store, project }: Scene) =>
    (await store.commands.list(project, 9)).map(({ kind, result }) => [kind, result?.status, result?.code]);

  it.each([
    ['issue_stop', 'already_stopped'],
    ['issue_hold', 'already_held'],
  ])('after a crash before its answer, %s has been carried out', async (kind, code) => {
    const { stage } = await withoutAnswers();
    expect(await stage.command(kind, { issue: '1' })).toBeNull();
    stage.kill();
    const next = await secondLife(stage);
    expect(await answers(next)).toEqual([[kind, 'done', code]]);
    expect(next.orchestrator.read().held).toMatchObject([{ code: 'person' }]);
  });

  it('after a crash before its answer, a handback has been carried out, and its note is delivered once', async () => {
    const { stage, mend } = await withoutAnswers();
    mend();
    await stage.command('issue_takeover', { issue: '1' });
    stage.runs[0]?.end();
    await stage.clock.advance(0);
    stage.kill();
    let isBroken = true;
    const before = (call: string): void => {
      if (isBroken && call === 'commands.finish') throw new BatonError('store_unavailable', 'no store');
    };
    const { store, clock, tracker } = stage;
    const second = await scene({ store, clock, tracker, through: (each) => storeThrough(each, { before }) });
    await second.orchestrator.start();
    await clock.advance(1_000);
    await second.command('issue_handback', { issue: '1', note: 'once' });
    await clock.advance(100);
    second.runs[0]?.request.report({ kind: 'prompt_delivered', hasComments: true });
    await clock.advance(100);
    second.kill();
    isBroken = false;
    const third = await secondLife(stage);
    expect((await answers(third))[0]).toEqual(['issue_handback', 'done', 'already_handed_back']);
    // Once in each prompt, until a run ends well.
    expect([wordsOf(second, 0), wordsOf(third, 0)]).toEqual([['once'], ['once']]);
  });

  it('reaches the agent once, also when its answer cannot be written', async () => {
    const { stage, mend } = await withoutAnswers();
    expect(await stage.command('issue_steer', { issue: '1', text: 'Use the other door.' })).toBeNull();
    await stage.clock.advance(10_000);
    mend();
    await stage.clock.advance(10_000);
    expect(stage.runs[0]?.heard).toEqual(['Use the other door.']);
    expect(await answers(stage)).toEqual([['issue_steer', 'done', 'message_delivered']]);
  });

  // @conforms runs.61
  it('reaches the agent once, also when the daemon dies before its answer is written', async () => {
    const { stage } = await withoutAnswers();
    await stage.command('issue_steer', { issue: '1', text: 'Use the other door.' });
    expect(stage.runs[0]?.heard).toEqual(['Use the other door.']);
    stage.kill();
    const next = await secondLife(stage);
    expect(next.runs).toHaveLength(1);
    expect(next.runs[0]?.heard).toEqual([]);
    expect(await answers(next)).toEqual([['issue_steer', 'done', 'message_uncertain']]);
  });
});

describe('an agent that could not be ended after a takeover', () => {
  // @conforms runs.62
  it('holds the issue with the command that fixes it, which is not a handback', async () => {
    const stage = await begun();
    await stage.command('issue_takeover', { issue: '1' });
    stage.runs[0]?.fail('agent_survives');
    await stage.clock.advance(0);
    const [held] = stage.orchestrator.read().held;
    expect(held).toMatchObject({ code: 'agent_survives', reason: expect.stringContaining('baton issue retry T-1') });
    expect(held?.reason).not.toContain('handback');
    expect(await stage.command('issue_handback', { issue: '1' })).toMatchObject({ status: 'refused' });
    expect(await stage.command('issue_takeover', { issue: '1' })).toMatchObject({
      status: 'refused',
      code: 'agent_survives',
    });
    expect(await stage.command('issue_retry', { issue: '1' })).toMatchObject({ status: 'done' });
    await stage.clock.advance(1_000);
    expect(stage.runs).toHaveLength(2);
  });

  it('holds the issue in the same way after a restart', async () => {
    const stage = await begun();
    await stage.command('issue_takeover', { issue: '1' });
    stage.kill();
    const { store, clock, tracker } = stage;
    const next = await scene({ store, clock, tracker, processesLeft: 2 });
    await next.orchestrator.start();
    await next.clock.advance(1_000);
    expect(next.orchestrator.read().held).toMatchObject([
      { code: 'agent_survives', reason: expect.stringContaining('baton issue retry T-1') },
    ]);
  });
});

describe('a lifted hold after a handback whose run could not be launched', () => {
  const note = 'I mended the door.';

  /** Taken over in the middle of a conversation, and given back; the run that is to go on with it has begun. */
  async function onReleased(): Promise<Scene> {
    const stage = await begun({ settings: settings({ intervalMs: 30_000, agent: { maxRetries: 3 } }) });
    stage.runs[0]?.request.report({ kind: 'session', threadId: 'thread-1' });
    stage.runs[0]?.request.report({ kind: 'turn', turn: 1 });
    stage.runs[0]?.request.report({ kind: 'message', text: 'The door is blue.' });
    await stage.command('issue_takeover', { issue: '1' });
    stage.runs[0]?.end();
    await stage.clock.advance(0);
    await stage.command('issue_handback', { issue: '1', note });
    await stage.clock.advance(0);
    return stage;
  }
  const asGivenBack = {
    threadId: 'thread-1',
    retryKind: 'handed_back',
    messages: [expect.objectContaining({ body: note })],
    attempt: null,
    recovery: null,
    earlier: expect.objectContaining({ turns: 1, lastMessage: 'The door is blue.' }),
  };

  // @conforms runs.69
  it.each(['issue_retry', 'issue_release'])('%s continues the handback with a new allowance', async (lifts) => {
    const stage = await onReleased();
    for (const runs of [2, 3, 4]) {
      expect(stage.runs).toHaveLength(runs);
      stage.runs.at(-1)?.failToLaunch();
      await stage.clock.advance(60_000);
    }
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'retries_exhausted' }]);
    expect(await stage.command(lifts, { issue: '1' })).toMatchObject({ status: 'done' });
    await stage.clock.advance(0);
    expect(stage.runs.at(-1)?.request).toMatchObject(asGivenBack);
    expect(stage.orchestrator.read()).toMatchObject({ held: [], retrying: [] });
    // Counted anew: the next failure is the first.
    stage.runs.at(-1)?.failToLaunch();
    await stage.clock.advance(0);
    expect(stage.orchestrator.read()).toMatchObject({ held: [], retrying: [{ attempt: 1 }] });
  });

  it('resumes the open conversation, and uses no attempt', async () => {
    const stage = await onReleased();
    stage.runs[1]?.fail('agent_thread_in_use');
    await stage.clock.advance(300_000);
    expect(stage.runs).toHaveLength(2);
    expect(stage.orchestrator.read().held).toMatchObject([
      { code: 'agent_thread_in_use', reason: expect.stringContaining('baton issue retry T-1') },
    ]);
    await stage.command('issue_retry', { issue: '1' });
    await stage.clock.advance(0);
    expect(stage.runs[2]?.request).toMatchObject(asGivenBack);
  });

  it('does the same after a restart, and when the daemon dies after the hold was lifted', async () => {
    const stage = await onReleased();
    stage.runs[1]?.fail('agent_thread_in_use');
    await stage.clock.advance(0);
    stage.kill();
    const { store, clock, tracker } = stage;
    const second = await scene({ store, clock, tracker });
    await second.orchestrator.start();
    await clock.advance(1_000);
    expect(second.orchestrator.read().held).toMatchObject([{ code: 'agent_thread_in_use' }]);
    await second.command('pause');
    await second.command('issue_retry', { issue: '1' });
    second.kill();
    const third = await scene({ store, clock, tracker });
    await third.orchestrator.start();
    await clock.advance(1_000);
    await third.command('resume');
    await clock.advance(10_000);
    expect(third.runs[0]?.request).toMatchObject(asGivenBack);
  });

  it('starts a new conversation when the run had a session, or the issue was not handed back', async () => {
    const stage = await onReleased();
    stage.runs[1]?.request.report({ kind: 'session', threadId: 'thread-1' });
    stage.runs[1]?.request.report({ kind: 'turn', turn: 1 });
    stage.runs[1]?.fail('agent_thread_in_use');
    await stage.clock.advance(0);
    await stage.command('issue_retry', { issue: '1' });
    await stage.clock.advance(1_000);
    expect(stage.runs[2]?.request).toMatchObject({ threadId: null, retryKind: null });
    stage.runs[2]?.fail('agent_thread_in_use');
    await stage.clock.advance(0);
    await stage.command('issue_retry', { issue: '1' });
    await stage.clock.advance(1_000);
    expect(stage.runs[3]?.request).toMatchObject({ threadId: null, retryKind: null });
  });

  it('releases the issue when it has left the active states meanwhile', async () => {
    const stage = await onReleased();
    stage.runs[1]?.fail('agent_thread_in_use');
    await stage.clock.advance(0);
    stage.tracker.put(issue({ id: '1', state: 'Done' }));
    await stage.command('issue_retry', { issue: '1' });
    await stage.clock.advance(1_000);
    expect(stage.runs).toHaveLength(2);
    expect(stage.orchestrator.read()).toMatchObject({ held: [], retrying: [], running: [] });
  });
});
