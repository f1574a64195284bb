import { describe, expect, it } from 'vitest';
import { plainLines } from '../../../src/cli/top/lines/plain-lines.ts';
import { finished, needsYou, now, running, sceneAt, waiting } from './now-scene.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose.
const steering = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u200b]/;

const line = (pattern: RegExp) => expect.stringMatching(pattern);

describe('plain lines', () => {
  it('report each start, end and need for a person once', () => {
    const tell = plainLines();
    const one = running('W-1');
    expect(tell([now({ running: [one] })], sceneAt)).toEqual([line(/^12:00:00 W-1 .*: The work of W-1$/)]);
    expect(tell([now({ running: [{ ...one, last_message: 'goes on', turn: 8 }] })], sceneAt)).toEqual([]);
    expect(tell([now({ running: [running('W-2', { attempt: 1 })], finished: [finished('W-1')] })], sceneAt)).toEqual([
      line(/^12:00:00 W-1 .* 20m 25s: .*\(done\)$/),
      line(/^12:00:00 W-2 .*\(retry 1\): The work of W-2$/),
    ]);
    expect(tell([now({ waiting: [waiting('W-2', { reason: 'it\ncrashed' })] })], sceneAt)).toEqual([
      line(/^12:00:00 W-2 .* 20m 25s: .* it crashed$/),
    ]);
    const asked = needsYou('W-3', { kind: 'question', reason: 'Which colour?' });
    expect(tell([now({ needs_you: [asked] })], sceneAt + 1_000)).toEqual([
      line(/^12:00:01 W-3 .*\(question\): Which colour\?$/),
    ]);
    expect(tell([now({ needs_you: [{ ...asked, since: null }] })], sceneAt)).toEqual([]);
    expect(tell([now({ needs_you: [{ ...asked, reason: 'Which size?' }] })], sceneAt)).toHaveLength(1);
    expect(tell([now()], sceneAt)).toEqual([]);
  });

  it('name the command that reviews a change', () => {
    const change = needsYou('W-3', { kind: 'review', reason: 'a change waits', pull: 7 });
    expect(plainLines()([now({ needs_you: [change] })], sceneAt)).toEqual([
      line(/^12:00:00 W-3 .*\(review\): baton review W-3: a change waits$/),
    ]);
    const without = needsYou('W-3', { kind: 'review', reason: 'a change waits' });
    expect(plainLines()([now({ needs_you: [without] })], sceneAt)[0]).not.toContain('baton review');
  });

  it('report a run that follows another on the same issue', () => {
    const tell = plainLines();
    tell([now({ running: [running('W-1')] })], sceneAt);
    expect(tell([now({ running: [running('W-1', { run_id: 'another' })] })], sceneAt)).toEqual([
      line(/^12:00:00 W-1 .* 20m 25s$/),
      line(/^12:00:00 W-1 .*: The work of W-1$/),
    ]);
  });

  it('name the project when there are several, and nothing without an issue', () => {
    const about = needsYou('x', {
      issue_id: null,
      issue_identifier: null,
      kind: 'daemon',
      reason: 'The disk is full.',
    });
    expect(plainLines()([now({ needs_you: [about] })], sceneAt)).toEqual([
      line(/^12:00:00 \D*\(daemon\): The disk is full\.$/),
    ]);
    expect(
      plainLines()([now({ running: [running('A-1', { title: null })] }), now({ project: 'numbers' })], sceneAt),
    ).toEqual([line(/^12:00:00 words A-1 \S+$/)]);
  });

  it('report that a project is paused, drains, is stopped by a limit, and continues', () => {
    const tell = plainLines();
    const paused = (kind: 'pause' | 'drain', reason: string | null) =>
      now({}, { paused: { kind, since: null, reason } });
    expect(tell([now()], sceneAt)).toEqual([]);
    expect(tell([paused('pause', 'lunch\u001b[2J')], sceneAt)).toEqual([line(/^12:00:00 .*: lunch␛\[2J$/)]);
    expect(tell([paused('pause', 'lunch\u001b[2J')], sceneAt)).toEqual([]);
    const [drains] = tell([paused('drain', null)], sceneAt);
    const [goesOn] = tell([now()], sceneAt);
    const [pauses] = tell([paused('pause', null)], sceneAt);
    for (const each of [drains, goesOn, pauses]) expect(each).toMatch(/^12:00:00 \S/);
    expect(new Set([drains, goesOn, pauses]).size).toBe(3);
    expect(tell([now()], sceneAt)).toEqual([goesOn]);
    const limit = { issue_id: null, issue_identifier: null, kind: 'limit' as const, actions: ['resume'] };
    const stopped = now({ needs_you: [needsYou('day', { ...limit, reason: 'The limit of the day is reached.' })] });
    expect(tell([stopped], sceneAt)).toEqual([line(/^12:00:00 .*\(limit\): The limit of the day is reached\.$/)]);
    expect(tell([now()], sceneAt)).toEqual([goesOn]);
    expect(plainLines()([now(), { ...paused('pause', null), project: 'numbers' }], sceneAt)).toEqual([
      line(/^12:00:00 numbers \S+$/),
    ]);
  });

  it('contain no escapes from any author', () => {
    const hostile = '\u001b[2Jwords\r\n\u202emore\u009b31m\u200b';
    const scene = now({
      project: hostile,
      needs_you: [needsYou(hostile, { reason: hostile })],
      running: [running(hostile, { title: hostile })],
    });
    const tell = plainLines();
    const lines = [
      ...tell([scene, now()], sceneAt),
      ...tell([now({ finished: [finished(hostile, { state: hostile })] })], sceneAt),
    ];
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(line).not.toMatch(steering);
  });
});
