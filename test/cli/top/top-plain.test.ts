import { describe, expect, it } from 'vitest';
import { plainLines } from '../../../src/cli/top/plain-lines.ts';
import { landed, needsYou, now, running, sceneAt, waiting } from './now-scene.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose.
const steering = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u200b]/;

describe('plain lines', () => {
  it('tell what starts, what ends and what needs a person, each once', () => {
    const tell = plainLines();
    const one = running('W-1');
    expect(tell([now({ running: [one] })], sceneAt)).toEqual(['12:00:00 W-1 started: The work of W-1']);
    expect(tell([now({ running: [{ ...one, last_message: 'goes on', turn: 8 }] })], sceneAt)).toEqual([]);
    expect(tell([now({ running: [running('W-2', { attempt: 1 })], landed: [landed('W-1')] })], sceneAt)).toEqual([
      '12:00:00 W-1 ended after 20m 25s: landed (done)',
      '12:00:00 W-2 started (retry 1): The work of W-2',
    ]);
    expect(tell([now({ waiting: [waiting('W-2', { reason: 'it\ncrashed' })] })], sceneAt)).toEqual([
      '12:00:00 W-2 ended after 20m 25s: waits, it crashed',
    ]);
    const asked = needsYou('W-3', { kind: 'question', reason: 'Which colour?' });
    expect(tell([now({ needs_you: [asked] })], sceneAt + 1_000)).toEqual([
      '12:00:01 W-3 needs you (question): Which colour?',
    ]);
    expect(tell([now({ needs_you: [{ ...asked, since: null }] })], sceneAt)).toEqual([]);
    expect(tell([now({ needs_you: [{ ...asked, reason: 'Which size?' }] })], sceneAt)).toHaveLength(1);
    expect(tell([now()], sceneAt)).toEqual([]);
  });

  it('tell of a run that follows another on the same issue', () => {
    const tell = plainLines();
    tell([now({ running: [running('W-1')] })], sceneAt);
    expect(tell([now({ running: [running('W-1', { run_id: 'another' })] })], sceneAt)).toEqual([
      '12:00:00 W-1 ended after 20m 25s',
      '12:00:00 W-1 started: The work of W-1',
    ]);
  });

  it('name the project when there are several, and nothing where there is no issue', () => {
    const about = needsYou('x', {
      issue_id: null,
      issue_identifier: null,
      kind: 'daemon',
      reason: 'The disk is full.',
    });
    expect(plainLines()([now({ needs_you: [about] })], sceneAt)).toEqual([
      '12:00:00 needs you (daemon): The disk is full.',
    ]);
    expect(
      plainLines()([now({ running: [running('A-1', { title: null })] }), now({ project: 'numbers' })], sceneAt),
    ).toEqual(['12:00:00 words A-1 started']);
  });

  it('tell that a project is paused, drains, is stopped by a limit, and goes on', () => {
    const tell = plainLines();
    const paused = (kind: 'pause' | 'drain', reason: string | null) =>
      now({}, { paused: { kind, since: null, reason } });
    expect(tell([now()], sceneAt)).toEqual([]);
    expect(tell([paused('pause', 'lunch\u001b[2J')], sceneAt)).toEqual(['12:00:00 paused: lunch']);
    expect(tell([paused('pause', 'lunch\u001b[2J')], sceneAt)).toEqual([]);
    expect(tell([paused('drain', null)], sceneAt)).toEqual(['12:00:00 draining, ends with the last run']);
    expect(tell([now()], sceneAt)).toEqual(['12:00:00 goes on']);
    const limit = { issue_id: null, issue_identifier: null, kind: 'limit' as const, actions: ['resume'] };
    const stopped = now({ needs_you: [needsYou('day', { ...limit, reason: 'The limit of the day is reached.' })] });
    expect(tell([stopped], sceneAt)).toEqual(['12:00:00 needs you (limit): The limit of the day is reached.']);
    expect(tell([now()], sceneAt)).toEqual(['12:00:00 goes on']);
    expect(plainLines()([now(), { ...paused('pause', null), project: 'numbers' }], sceneAt)).toEqual([
      '12:00:00 numbers paused',
    ]);
  });

  it('are lines without escapes, whoever wrote the words', () => {
    const hostile = '\u001b[2Jwords\r\n\u202emore\u009b31m\u200b';
    const scene = now({
      project: hostile,
      needs_you: [needsYou(hostile, { reason: hostile })],
      running: [running(hostile, { title: hostile })],
    });
    const tell = plainLines();
    const lines = [
      ...tell([scene, now()], sceneAt),
      ...tell([now({ landed: [landed(hostile, { state: hostile })] })], sceneAt),
    ];
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(line).not.toMatch(steering);
  });
});
