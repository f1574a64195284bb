import { describe, expect, it } from 'vitest';
import type { Step } from '../../fake/app-server/scenario.ts';
import { openCodex, turn } from './codex-scene.ts';

const note = (method: string, params: Record<string, unknown> = {}): Step => ({ send: { method, params } });
const words = (text: string): Step => note('item/completed', { item: { type: 'agentMessage', id: text, text } });

describe('a turn of Codex', () => {
  // @conforms A4
  it('may take longer than the turn timeout while messages arrive (A4)', async () => {
    const steps = Array.from({ length: 5 }, () => [{ waitMs: 600 }, words('still here')]).flat();
    const { session } = await openCodex(turn(...steps), { options: { turnTimeoutMs: 1_800 } });
    expect(await session.runTurn('go')).toMatchObject({ status: 'completed' });
  });

  // @conforms A5
  it('fails after a silence of the turn timeout, and stop interrupts the work that may still run (A5)', async () => {
    const { session, fake, names } = await openCodex(turn({ forever: true }), { options: { turnTimeoutMs: 700 } });
    expect(await session.runTurn('go')).toMatchObject({ status: 'failed', error: { code: 'agent_turn_timeout' } });
    expect(names().at(-1)).toBe('turn_ended_with_error');
    await session.stop();
    expect(fake.sent('turn/interrupt')).toHaveLength(1);
  });

  it('counts repeats of the same retry notice as silence, and reports the notice once', async () => {
    const retry = note('error', { error: { message: 'Reconnecting... waiting for network' }, willRetry: true });
    const steps = Array.from({ length: 20 }, () => [retry, { waitMs: 200 }]).flat();
    const { session, events } = await openCodex(turn(...steps), { options: { turnTimeoutMs: 1_200 } });
    expect(await session.runTurn('go')).toMatchObject({ status: 'failed', error: { code: 'agent_turn_timeout' } });
    expect(events.filter(({ summary }) => summary.includes('Reconnecting'))).toMatchObject([{ name: 'notification' }]);
  });

  it('is not silent while it waits for a tool of Baton over MCP', async () => {
    const item = { type: 'mcpToolCall', id: 'call', server: 'baton', tool: 'ask_person', status: 'inProgress' };
    const { session } = await openCodex(
      turn(note('item/started', { item }), { waitMs: 2_000 }, note('item/completed', { item }), { say: 'done' }),
      {
        options: { turnTimeoutMs: 900, tools: 'mcp' },
        request: { toolAddress: { url: 'http://127.0.0.1:9/mcp', token: 'of-this-run' } },
      },
    );
    expect(await session.runTurn('go')).toMatchObject({ status: 'completed' });
  });

  // @conforms A7, A8
  it.each([
    [{ method: 'turn/input_required', id: 'resp-1', params: { requiresInput: true } }],
    [{ method: 'turn/needs_input', params: { question: 'Which one?' } }],
    [{ method: 'turn/approval_required', params: {} }],
    [{ method: 'turn/anything', params: { type: 'needs_input' } }],
    [{ method: 'mcpServer/elicitation/request', params: { message: 'Who are you?' } }],
  ])('needs a person when it gets %j (A7, A8)', async (send) => {
    const { session, fake } = await openCodex(turn({ send }, { waitMs: 50 }, { forever: true }));
    expect(await session.runTurn('go')).toMatchObject({
      status: 'input_required',
      question: expect.stringMatching(/\S/),
    });
    if ('id' in send) await expect.poll(() => fake.answerTo('resp-1')).toMatchObject({ error: { code: -32_601 } });
  });

  // @conforms X4
  it.each([
    ['failed', { message: 'usage limit', codexErrorInfo: 'usageLimitExceeded' }, 'agent_quota_exhausted'],
    ['failed', { message: 'no', codexErrorInfo: 'other' }, 'agent_turn_failed'],
    ['interrupted', null, 'agent_turn_failed'],
    ['somethingNew', null, 'agent_turn_failed'],
  ])('that Codex completes as %s is not a success (X4): %j', async (status, error, code) => {
    const { session, names } = await openCodex(turn({ complete: status, error }));
    expect(await session.runTurn('go')).toMatchObject({ status: 'failed', error: { code } });
    expect(names().at(-1)).toBe('turn_failed');
  });

  it.each([
    ['turn/failed', { error: { message: 'out of luck' } }],
    ['turn/cancelled', { reason: 'by itself' }],
  ])('is also ended by the older %s', async (method, params) => {
    const { session } = await openCodex(turn(note(method, params), { forever: true }));
    expect(await session.runTurn('go')).toMatchObject({ status: 'failed', error: { code: 'agent_turn_failed' } });
  });

  it('is not ended by the end of an earlier turn, of another thread, or of a late item', async () => {
    const { session } = await openCodex({
      turns: [
        { match: 'first', steps: [{ say: 'one' }] },
        {
          match: 'second',
          steps: [
            note('turn/completed', { threadId: 'of-a-helper', turn: { id: 'x', status: 'failed' } }),
            { waitMs: 100 },
            { answerStart: true },
            note('turn/completed', { threadId: '$thread', turn: { id: 'turn-of-yore', status: 'failed' } }),
            note('item/completed', { item: { type: 'commandExecution', id: 'late', command: 'ls', exitCode: 0 } }),
            { waitMs: 100 },
            { say: 'two' },
            note('item/completed', {
              threadId: 'of-a-helper',
              item: { type: 'agentMessage', id: 'h', text: 'said by a helper' },
            }),
          ],
        },
      ],
    });
    expect(await session.runTurn('first')).toEqual({ status: 'completed', message: 'one' });
    expect(await session.runTurn('second')).toEqual({ status: 'completed', message: 'two' });
  });

  it('fails with the end of the error output when the program exits, also with code 0', async () => {
    const { session } = await openCodex(turn({ stderr: 'thread main panicked\n' }, { waitMs: 100 }, { exit: 0 }));
    expect(await session.runTurn('go')).toMatchObject({
      status: 'failed',
      error: { code: 'agent_exited', message: expect.stringContaining('panicked'), details: { exit_code: 0 } },
    });
    expect(await session.runTurn('again')).toMatchObject({ status: 'failed', error: { code: 'agent_exited' } });
  });

  // @conforms A20
  it('survives noise on both streams: it reports a line that is not a frame, and continues (A20)', async () => {
    const { session, events } = await openCodex(
      turn(
        { stderr: 'warning: this is stderr noise\n{"method":"turn/failed","params":{}}\n' },
        { raw: 'Welcome to this machine\n\n{"half": \n[1]\nnull\n{"a":1}\n' },
        { say: 'fine' },
      ),
    );
    expect(await session.runTurn('go')).toEqual({ status: 'completed', message: 'fine' });
    const told = events.filter(({ name }) => name === 'malformed' || name === 'other_message');
    expect(told.map(({ name }) => name)).toEqual([
      'other_message',
      'malformed',
      'other_message',
      'other_message',
      'other_message',
    ]);
  });

  // @conforms X16
  it('fails with bounded memory on an endless line of 20 MB (X16)', async () => {
    const { session, left } = await openCodex(turn({ raw: 'x'.repeat(1_000_000), times: 20 }, { forever: true }));
    const before = process.memoryUsage().rss;
    expect(await session.runTurn('go')).toMatchObject({ status: 'failed', error: { code: 'agent_protocol_error' } });
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
    await session.stop();
    expect(await left()).toEqual([]);
  });

  it('fails with an exhausted context when its prompt is too large', async () => {
    const error = { code: -32_602, message: 'too long', data: { input_error_code: 'input_too_large' } };
    const { session } = await openCodex({ answers: { 'turn/start': { error } } });
    expect(await session.runTurn('go')).toMatchObject({
      status: 'failed',
      error: { code: 'agent_context_exhausted', details: { kind: 'context' } },
    });
  });

  it('fails by the read timeout when Codex never confirms it', async () => {
    const { session } = await openCodex(
      { answers: { 'turn/start': 'silence' } },
      { options: { readTimeoutMs: 3_000, turnTimeoutMs: 60_000 } },
    );
    expect(await session.runTurn('go')).toMatchObject({ status: 'failed', error: { code: 'agent_turn_timeout' } });
  });

  it('reports few events for many pieces of text, and each piece counts as activity', async () => {
    const delta = { method: 'item/agentMessage/delta', params: { itemId: 'm', delta: 'word \u001b[1m' } };
    const { session, events } = await openCodex(turn({ send: delta, times: 50_000 }, { say: 'the end' }));
    expect(await session.runTurn('go')).toMatchObject({ status: 'completed' });
    const pieces = events.filter(({ payload }) => (payload as { method?: string })?.method === delta.method);
    expect(pieces.length).toBeGreaterThan(0);
    expect(pieces.length).toBeLessThan(200);
    const merged = pieces.map(({ payload }) => (payload as { params: { merged: number; delta: string } }).params);
    expect(merged.reduce((sum, each) => sum + each.merged, 0)).toBeGreaterThanOrEqual(50_000);
    expect(Math.max(...merged.map((each) => each.delta.length))).toBeLessThanOrEqual(8_192);
    expect(events.every(({ summary }) => !summary.includes('\u001b'))).toBe(true);
  });

  it('reports quota and tokens with the events that carry them (X3)', async () => {
    const resetsAt = Math.round(Date.now() / 1000) + 3_600;
    const primary = { usedPercent: 43, windowDurationMins: 300, resetsAt };
    const { session, events } = await openCodex(
      turn(note('account/rateLimits/updated', { rateLimits: { limitId: 'codex', primary, secondary: null } }), {
        usage: { inputTokens: 12, cachedInputTokens: 3, outputTokens: 4, reasoningOutputTokens: 1 },
      }),
    );
    await session.runTurn('go');
    expect(events.flatMap(({ quota }) => quota ?? [])).toEqual([
      { name: 'primary', usedPercent: 43, windowMinutes: 300, resetsAt: resetsAt * 1000 },
    ]);
    expect(events.flatMap(({ usage }) => usage ?? [])).toEqual([
      {
        inputTokens: 12,
        cachedInputTokens: 3,
        outputTokens: 4,
        reasoningTokens: 1,
        totalTokens: 16,
        model: 'fake-model',
      },
    ]);
  });

  it('reports the reset time of a used-up quota, and the login command after a lost login', async () => {
    const resetsAt = Math.round(Date.now() / 1000) + 3_600;
    const secondary = { used_percent: 100, window_minutes: 10_080, resets_at: resetsAt };
    const { session } = await openCodex(
      {
        turns: [
          {
            match: 'quota',
            steps: [
              note('codex/event/token_count', { msg: { rate_limits: { limit_id: 'codex', secondary } } }),
              { complete: 'failed', error: { message: 'hit', codexErrorInfo: 'usageLimitExceeded' } },
            ],
          },
          {
            match: 'login',
            steps: [
              {
                complete: 'failed',
                error: { message: 'x', codexErrorInfo: { httpConnectionFailed: { httpStatusCode: 401 } } },
              },
            ],
          },
        ],
      },
      { parts: { accountEnv: { CODEX_HOME: "/home/it's" } } },
    );
    expect(await session.runTurn('quota')).toMatchObject({
      error: { code: 'agent_quota_exhausted', details: { resets_at: resetsAt * 1000 } },
    });
    expect(await session.runTurn('login')).toMatchObject({
      error: { code: 'agent_auth_failed', message: expect.stringContaining(`CODEX_HOME='/home/it'\\''s' codex login`) },
    });
  });
});
