import { describe, expect, it } from 'vitest';
import { begun } from './scene.ts';

describe('a person who goes on by hand', () => {
  it('gets the issue when its agent has ended, keeps it, and gives it back with the same conversation', async () => {
    const stage = await begun();
    stage.runs[0]?.request.watcher.onSession('thread-1');
    expect(await stage.command('issue_takeover', { issue: '1' })).toMatchObject({ status: 'done' });
    expect(stage.runs[0]?.stops).toEqual(['taken_over']);
    expect(await stage.command('issue_handback', { issue: '1' })).toMatchObject({
      status: 'refused',
      text: expect.stringContaining('still being ended'),
    });
    stage.runs[0]?.end();
    await stage.clock.advance(60_000);
    expect(stage.orchestrator.read()).toMatchObject({
      running: [],
      held: [{ code: 'taken_over', reason: expect.stringContaining('baton handback') }],
    });
    expect(await stage.command('issue_takeover', { issue: '1' })).toMatchObject({ status: 'done' });
    expect(await stage.command('issue_handback', { issue: '1', note: 'I mended the door.' })).toMatchObject({
      status: 'done',
    });
    await stage.clock.advance(0);
    expect(stage.runs[1]?.request).toMatchObject({
      threadId: 'thread-1',
      retryKind: 'handed_back',
      note: 'I mended the door.',
      attempt: null,
    });
    expect(stage.orchestrator.read().held).toEqual([]);
  });

  it('may take an issue that only waits, and one that is held for something else', async () => {
    const stage = await begun();
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    expect(stage.orchestrator.read().retrying).toHaveLength(1);
    expect(await stage.command('issue_takeover', { issue: '1' })).toMatchObject({ status: 'done' });
    expect(stage.orchestrator.read()).toMatchObject({ retrying: [], held: [{ code: 'taken_over' }] });
    await stage.clock.advance(60_000);
    expect(stage.runs).toHaveLength(1);
    await stage.command('issue_handback', { issue: '1' });
    await stage.clock.advance(0);
    await stage.command('issue_stop', { issue: '1' });
    stage.runs[1]?.end();
    await stage.clock.advance(0);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'person' }]);
    expect(await stage.command('issue_handback', { issue: '1' })).toMatchObject({ status: 'refused' });
    expect(await stage.command('issue_takeover', { issue: '1' })).toMatchObject({ status: 'done' });
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'taken_over' }]);
  });

  it('steers a run, and nothing else', async () => {
    const stage = await begun();
    expect(await stage.command('issue_steer', { issue: '1', text: 'Use the other door.' })).toMatchObject({
      status: 'done',
      text: expect.stringContaining('is told'),
    });
    expect(stage.runs[0]?.heard).toEqual(['Use the other door.']);
    expect(await stage.command('issue_steer', { issue: '1', text: ' ' })).toMatchObject({ status: 'refused' });
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    expect(await stage.command('issue_steer', { issue: '1', text: 'Hello?' })).toMatchObject({
      status: 'refused',
      text: expect.stringContaining('not running'),
    });
  });

  it('keeps what he has in his hands, also while the issue is in no active state', async () => {
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

  it('has it, whatever else it is to be held for when its run has ended', async () => {
    const stage = await begun();
    await stage.command('issue_takeover', { issue: '1' });
    await stage.command('issue_stop', { issue: '1' });
    await stage.command('issue_hold', { issue: '1' });
    stage.runs[0]?.end();
    await stage.clock.advance(0);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'taken_over' }]);
    expect(await stage.command('issue_handback', { issue: '1' })).toMatchObject({ status: 'done' });
  });

  it('finds the conversation again, also when the run after it died before it had a session', async () => {
    const stage = await begun();
    stage.runs[0]?.request.watcher.onSession('thread-1');
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
