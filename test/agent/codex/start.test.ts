import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../../src/agent/agent.ts';
import { openSession } from '../../../src/agent/codex/session/open-session.ts';
import type { Step } from '../../fake/app-server/scenario.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';
import { scratchFolder } from '../scripted-scene.ts';
import { openCodex, turn } from './codex-scene.ts';

describe('starting Codex', () => {
  it('times out although Codex prints lines that are not frames', async () => {
    const babble = Array.from({ length: 40 }, (): Step[] => [{ raw: 'loading\n' }, { waitMs: 200 }]).flat();
    await expect(
      openCodex({ before: { initialize: babble } }, { options: { readTimeoutMs: 2_000 } }),
    ).rejects.toMatchObject({ code: 'agent_launch_failed' });
  });

  it('times out although Codex keeps sending messages but never the answer', async () => {
    const clock = new SimulatedClock();
    const asked: AbortSignal[] = [];
    const connection = {
      request: (_: string, __: unknown, ___: number, signal: AbortSignal) => {
        asked.push(signal);
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    };
    const told: string[] = [];
    const ours = { connection, reporter: {}, events: { open: (name: string) => told.push(name) } };
    const options = { readTimeoutMs: 10_000, version: '1' };
    const given = [ours, options, {}, { clock, denyEnv: [] }] as unknown as Parameters<typeof openSession>;
    const opened = openSession(...given);
    const outcome = opened.catch((error: unknown) => error);
    await clock.advance(119_000);
    expect(asked[0]?.aborted).toBe(false);
    await clock.advance(2_000);
    expect(await outcome).toMatchObject({ code: 'agent_launch_failed' });
    // Pending requests fail too, so that nothing more is requested from Codex.
    expect(asked[0]?.aborted).toBe(true);
    expect(told).toEqual(['startup_failed']);
  });

  it('is cancelled while another start in the same home hangs', async () => {
    const parts = { accountEnv: { CODEX_HOME: scratchFolder() } };
    const first = new AbortController();
    const second = new AbortController();
    const hangs = openCodex({ answers: { initialize: 'silence' } }, { parts, request: { signal: first.signal } });
    const waits = openCodex({}, { parts, request: { signal: second.signal } });
    second.abort(new Error('not wanted'));
    await expect(waits).rejects.toThrow('not wanted');
    first.abort(new Error('nor this one'));
    await expect(hangs).rejects.toThrow('nor this one');
  });

  it('is reported as failed only when it was not reported as started', async () => {
    const giveUp = new AbortController();
    const events: AgentEvent[] = [];
    const opened = openCodex(
      { answers: { 'thread/compact/start': { result: {} } } },
      {
        request: {
          threadId: 'thread-old',
          recovery: { compact: true },
          signal: giveUp.signal,
          onEvent: (event) => void events.push(event),
        },
      },
    );
    await expect.poll(() => events.map(({ name }) => name)).toContain('session_started');
    giveUp.abort(new Error('not wanted'));
    await expect(opened).rejects.toThrow('not wanted');
    expect(events.map(({ name }) => name)).not.toContain('startup_failed');
  });

  // @conforms codex.13
  it.each([
    ['a secret', 'TRACKER_KEY=of-the-profile', {}],
    ['a variable of the account', 'OPENAI_API_KEY=of-the-profile', { OPENAI_API_KEY: 'of-the-account' }],
  ])('fails and starts nothing when a login profile makes %s readonly', async (_, variable, accountEnv) => {
    const home = scratchFolder();
    const seen = path.join(scratchFolder(), 'env.txt');
    await writeFile(path.join(home, '.bash_profile'), `export ${variable}; readonly ${variable.split('=')[0]}\n`);
    const parts = { daemonEnv: { PATH: process.env.PATH, HOME: home }, accountEnv, denyEnv: ['TRACKER_KEY'] };
    await expect(openCodex({}, { parts, options: { command: `env > '${seen}'` } })).rejects.toMatchObject({
      code: 'agent_launch_failed',
      message: expect.stringContaining('readonly'),
    });
    expect(existsSync(seen)).toBe(false);
  });

  it('reports a turn as started when Codex has accepted it, and not when Codex refuses it', async () => {
    const { session, names } = await openCodex({
      answers: { 'turn/start': { error: { code: -32_600, message: 'not now' } } },
    });
    expect(await session.runTurn('go')).toMatchObject({ status: 'failed' });
    expect(names()).not.toContain('turn_started');
    const dies = await openCodex({ before: { 'turn/start': [{ exit: 1 }] } });
    expect(await dies.session.runTurn('go')).toMatchObject({ status: 'failed', error: { code: 'agent_exited' } });
    expect(dies.names()).not.toContain('turn_started');
    const well = await openCodex({});
    await well.session.runTurn('go');
    expect(well.names().filter((name) => name === 'turn_started')).toHaveLength(1);
    const early = await openCodex(
      turn(
        { send: { method: 'turn/started', params: { turn: { id: '$turn' } } } },
        { waitMs: 200 },
        { answerStart: true },
      ),
    );
    await early.session.runTurn('go');
    expect(early.names().filter((name) => name === 'turn_started')).toHaveLength(1);
  });

  it('disables turns that Codex begins by itself, on a new and on a resumed thread', async () => {
    const fresh = await openCodex({});
    expect(fresh.fake.sent('thread/start')[0]?.config).toMatchObject({ 'features.goals': false });
    const old = await openCodex({}, { request: { threadId: 'thread-old' } });
    expect(old.fake.sent('thread/resume')[0]?.config).toMatchObject({ 'features.goals': false });
  });

  it('reads a result with a null error as a result', async () => {
    // Its real answer follows when no one waits for it any more.
    const answer: Step = { send: { id: 1, result: { userAgent: 'x' }, error: null } };
    const { names } = await openCodex({ before: { initialize: [answer] } });
    expect(names()[0]).toBe('session_started');
  });

  it('reads an error that is not an object as a refusal, not as an answer', async () => {
    await expect(openCodex({ answers: { 'thread/start': { error: 'not today' } } })).rejects.toMatchObject({
      code: 'agent_launch_failed',
      message: expect.stringContaining('not today'),
    });
  });
});

describe('a thread that Codex does not resume', () => {
  const resume = (error: { code: number; message: string }) =>
    openCodex({ answers: { 'thread/resume': { error } } }, { request: { threadId: 'thread-old' } });

  it.each([
    { code: -32_600, message: 'no rollout found for thread id 01900000-0000-7000-8000-000000000000' },
    { code: -32_600, message: 'invalid session id: invalid character: expected an optional prefix' },
    { code: -32_600, message: 'thread not found: 01900000-0000-7000-8000-000000000000' },
    {
      code: -32_600,
      message: 'This chat uses openai, but your current provider is fake. Switch to openai to continue.',
    },
    { code: -32_603, message: 'failed to read thread: thread-store internal error: failed to read session metadata' },
  ])('is lost, and a new one begins, when Codex says: $message', async (error) => {
    const { session, fake } = await resume(error);
    expect(session).toMatchObject({ isResumed: false });
    expect(fake.sent('thread/start')).toHaveLength(1);
  });

  // @conforms codex.12
  it.each([
    { code: -32_001, message: 'Server overloaded; retry later.' },
    { code: -32_600, message: 'thread 0190 is closing; retry thread/resume after the thread is closed' },
    { code: -32_603, message: 'something else went wrong' },
    { code: -32_600, message: 'failed to load configuration: x' },
  ])('stays available, and the session fails, when Codex says: $message', async (error) => {
    await expect(resume(error)).rejects.toMatchObject({
      code: 'agent_launch_failed',
      message: expect.stringContaining(error.message),
    });
  });

  // @conforms runs.65
  it('stays available when another Codex has it open, and a person must close it', async () => {
    const message = 'thread 0190 already has an active writer';
    const opened = openCodex(
      { answers: { 'thread/resume': { error: { code: -32_600, message } } } },
      { request: { threadId: 'thread-old' }, parts: { accountEnv: { CODEX_HOME: '/homes/spare one' } } },
    );
    await expect(opened).rejects.toMatchObject({
      code: 'agent_thread_in_use',
      message: expect.stringContaining("`CODEX_HOME='/homes/spare one' codex app-server daemon stop`"),
      details: { refusal: { message } },
    });
    await expect(opened).rejects.toThrow(message);
  });
});
