import { describe, expect, it } from 'vitest';
import { SimulatedClock } from '../../src/clock/simulated-clock.ts';
import { openToolDoor } from '../../src/tools/registry.ts';
import { MemoryTracker } from '../../src/tracker/memory/memory-tracker.ts';
import type { Tracker } from '../../src/tracker/tracker.ts';
import { issue } from '../fake/issues.ts';

function open(tracker: Tracker = memory()) {
  const progress: string[] = [];
  const moves: string[] = [];
  const door = openToolDoor({
    runId: 'run-1',
    issueId: '1',
    tracker,
    onProgress: (text) => progress.push(text),
    onMove: (state) => moves.push(state),
  });
  return { door, progress, moves, tracker };
}

function memory(): MemoryTracker {
  return new MemoryTracker({
    issues: [issue({ id: '1' }), issue({ id: '2' })],
    states: ['Todo', 'Done'],
    clock: new SimulatedClock(),
  });
}

describe('the tools of a run', () => {
  it('are described with a JSON Schema of their input', () => {
    const { door } = open();
    expect(door.tools.map(({ name }) => name)).toEqual([
      'get_issue',
      'comment',
      'update_issue_status',
      'report_progress',
    ]);
    expect(door.tools[1]?.inputSchema).toMatchObject({
      type: 'object',
      required: ['body'],
      additionalProperties: false,
    });
  });

  it('read and change only the issue of the run, in its name', async () => {
    const tracker = memory();
    const { door, progress, moves } = open(tracker);
    expect(JSON.parse((await door.call('get_issue', {})).output)).toMatchObject({ id: '1', state: 'Todo' });
    expect(await door.call('update_issue_status', { status: 'done' })).toEqual({
      success: true,
      output: 'T-1 is now in "Done".',
    });
    await door.call('comment', { body: ' ready ' });
    await door.call('report_progress', { text: 'half way' });
    expect(tracker.all().map(({ state }) => state)).toEqual(['Done', 'Todo']);
    expect(tracker.commentsOn('1')).toMatchObject([{ body: 'ready', author: { kind: 'run', runId: 'run-1' } }]);
    expect(progress).toEqual(['half way']);
    expect(moves).toEqual(['done']);
  });

  it.each([
    ['an unknown tool', 'rm', {}, 'unsupported_tool_call'],
    ['arguments of the wrong shape', 'comment', { text: 'x' }, 'invalid_tool_arguments'],
    ['arguments that are no object', 'comment', 'x', 'invalid_tool_arguments'],
    [
      'another issue named in the arguments',
      'update_issue_status',
      { status: 'Done', id: '2' },
      'invalid_tool_arguments',
    ],
    ['a state the tracker does not have', 'update_issue_status', { status: 'Nirvana' }, 'tracker_state_unknown'],
  ])('answer %s with a structured failure', async (_what, name, input, code) => {
    const answer = await open().door.call(name, input);
    expect(answer.success).toBe(false);
    expect(JSON.parse(answer.output).error).toMatchObject({
      code,
      message: expect.any(String),
      next_step: expect.any(String),
    });
  });

  it('leave out what would change a read-only tracker', async () => {
    const tracker: Tracker = {
      kind: 'stone',
      changes: null,
      fetchByIds: async () => [],
      fetchByStates: async () => [],
    };
    const { door } = open(tracker);
    expect(door.tools.map(({ name }) => name)).toEqual(['get_issue', 'report_progress']);
    expect((await door.call('comment', { body: 'x' })).success).toBe(false);
  });
});
