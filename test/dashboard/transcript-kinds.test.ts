import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventKinds, viewOf } from '../../dashboard/data/run/transcript-kinds.ts';
import type { RunEvent } from '../../src/client/schema/run.ts';

const told = (event: string, message: string, payload?: unknown) =>
  viewOf({ seq: 1, at: '2026-01-01T00:00:00.000Z', event, message, ...(payload === undefined ? {} : { payload }) });
const item = (fields: object) => ({ method: 'item/completed', params: { item: fields } });

describe('the view of a run event', () => {
  it.each([
    [
      'what an agent says',
      'says',
      told('notification', 'Done…', item({ type: 'agentMessage', text: 'Done, **all**' })),
    ],
    ['what it thinks', 'thinks', told('notification', 'thinks: x', item({ type: 'reasoning', summary: ['x'] }))],
    ['a command', 'command', told('notification', 'ls: exit code 0', item({ type: 'commandExecution', exitCode: 0 }))],
    ['a change of files', 'change', told('notification', 'changed a', item({ type: 'fileChange' }))],
    ['a tool', 'tool', told('tool_call_completed', 'comment: ok', { name: 'comment', input: {}, output: 'ok' })],
    ['a question', 'question', told('approval_required', 'May I?')],
    ['its prompt', 'prompt', told('turn_prompt', 'prompt of turn 1')],
    ['a turn', 'turn', told('turn_started', 'turn started')],
    ['numbers', 'figures', told('notification', 'tokens so far', { method: 'thread/tokenUsage/updated' })],
    ['a piece of a text', 'piece', told('notification', 'says a', { method: 'item/agentMessage/delta' })],
    ['a message of the rehearsal', 'says', told('notification', 'Hello', { type: 'message', text: 'Hello' })],
    ['an unknown event', 'output', told('from_the_future', 'something')],
    ['a name that every object inherits', 'output', told('constructor', 'something')],
  ])('%s is %s', (_, kind, event) => {
    expect(event.kind).toBe(kind);
  });

  it('has the whole text if the line is cut', () => {
    const { text, isMarkdown } = told('notification', 'Done…', item({ type: 'agentMessage', text: 'Done, **all**' }));
    expect([text, isMarkdown]).toEqual(['Done, **all**', true]);
  });

  it('shows a stage in plain words', () => {
    expect(told('stage_changed', 'preparing_workspace')).toMatchObject({ kind: 'turn', text: 'preparing' });
  });

  it('is bad if a command or a tool failed', () => {
    expect(told('notification', 'x', item({ type: 'commandExecution', exitCode: 1 })).isBad).toBe(true);
    expect(told('tool_call_failed', 'x').isBad).toBe(true);
    expect(told('notification', 'npm test: exit code 2').isBad).toBe(true);
    expect(told('notification', 'npm test: exit code 0').isBad).toBe(false);
  });

  it('has the output of a command, and the input and output of a tool', () => {
    const printed = told('notification', 'x', item({ type: 'commandExecution', aggregatedOutput: 'ok 1\n' }));
    expect(printed.detail).toBe('ok 1\n');
    expect(told('tool_call_completed', 'x', { input: { a: 1 }, output: 'done' }).detail).toBe('{\n  "a": 1\n}\n\ndone');
    const codex = { call: { params: { arguments: { b: 2 } } }, success: true, output: 'done' };
    expect(told('tool_call_completed', 'x', codex).detail).toBe('{\n  "b": 2\n}\n\ndone');
  });

  // @conforms dashboard.17
  it('exists for any payload, because an agent may send anything', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('notification', 'tool_call_failed', 'x'),
        fc.string(),
        fc.jsonValue(),
        (name, message, payload) => {
          const event: RunEvent = { seq: 1, at: '2026-01-01T00:00:00.000Z', event: name, message, payload };
          const { kind, text } = viewOf(event);
          expect(eventKinds).toContain(kind);
          expect(typeof text).toBe('string');
        },
      ),
    );
    for (const payload of [
      item({ type: 'reasoning', summary: 7 }),
      item({ type: 'mcpToolCall' }),
      { method: 3 },
      [],
      null,
    ])
      expect(eventKinds).toContain(told('notification', '', payload).kind);
  });
});
