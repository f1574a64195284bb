// @module-tag full
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import type { BatonError } from '../../../src/core/baton-error.ts';
import type { Fault, Step } from '../../fake/openai/scenario.ts';
import { describeWithCodex } from '../codex-binary.ts';
import { useCodexScenes } from './codex-scene.ts';

await describeWithCodex('failures between Codex and its model', (codex) => {
  const makeScene = useCodexScenes(codex);

  /** The error of a turn whose model gives only this answer. */
  const errorOf = async (step: Step): Promise<{ error: BatonError; requests: number }> => {
    const scene = await makeScene({ scenario: { otherwise: [step] } });
    const { session, names } = await scene.open();
    const result = await session.runTurn('Do it.');
    if (result.status !== 'failed') throw new Error(`the turn was ${result.status}`);
    expect(names().at(-1)).toBe('turn_failed');
    return { error: result.error, requests: scene.model.requests.length };
  };

  // @conforms real.16
  it('reports a refused key as a failed login and names the command that fixes it', async () => {
    const body = { error: { message: 'Incorrect API key provided', type: 'invalid_request_error' } };
    const { error } = await errorOf({ fault: { kind: 'http', status: 401, body } });
    expect(error.code).toBe('agent_auth_failed');
    expect(`${error.message} ${JSON.stringify(error.details)}`).toContain('codex login');
  });

  // @conforms real.17
  it('reports a used-up quota with its reset time', async () => {
    const resetsAt = Math.floor(Date.now() / 1000) + 3_600;
    const body = {
      error: { type: 'usage_limit_reached', message: 'The usage limit has been reached', resets_at: resetsAt },
    };
    const headers = {
      'x-codex-primary-used-percent': '100',
      'x-codex-primary-window-minutes': '300',
      'x-codex-primary-reset-at': String(resetsAt),
    };
    const { error, requests } = await errorOf({ fault: { kind: 'http', status: 429, body }, headers });
    expect(error.code).toBe('agent_quota_exhausted');
    expect(error.details.resets_at).toBe(resetsAt * 1000);
    expect(requests).toBe(1);
  });

  const quotaFaults: readonly (readonly [string, Fault])[] = [
    [
      'a rate limit by status',
      { kind: 'http', status: 429, body: { error: { type: 'rate_limit_exceeded', message: 'Slow down' } } },
    ],
    [
      'a quota that was never paid for',
      { kind: 'failed', code: 'insufficient_quota', message: 'You exceeded your quota' },
    ],
  ];
  it.each(quotaFaults)('reports %s as a quota problem', async (_, fault) => {
    expect((await errorOf({ fault })).error.code).toBe('agent_quota_exhausted');
  });

  it('reports the quota windows as events', async () => {
    const resetsAt = Math.floor(Date.now() / 1000) + 600;
    const headers = {
      'x-codex-primary-used-percent': '42.5',
      'x-codex-primary-window-minutes': '300',
      'x-codex-primary-reset-at': String(resetsAt),
      'x-codex-secondary-used-percent': '7',
      'x-codex-secondary-window-minutes': '10080',
    };
    const scene = await makeScene({ scenario: { otherwise: [{ headers, message: 'done' }] } });
    const { complete, events } = await scene.open();
    await complete('Do it.');
    const quota = events.findLast((event) => event.quota !== undefined)?.quota;
    expect(quota).toContainEqual({ name: 'primary', usedPercent: 43, windowMinutes: 300, resetsAt: resetsAt * 1000 });
    expect(quota).toContainEqual({ name: 'secondary', usedPercent: 7, windowMinutes: 10_080, resetsAt: null });
  });

  const contextFaults: readonly (readonly [string, Fault])[] = [
    ['in the stream', { kind: 'failed', code: 'context_length_exceeded', message: 'Your input exceeds the window' }],
    [
      'by status',
      {
        kind: 'http',
        status: 400,
        body: {
          error: {
            message: 'Your input exceeds the context window of this model.',
            type: 'invalid_request_error',
            param: 'input',
            code: 'context_length_exceeded',
          },
        },
      },
    ],
  ];
  // @conforms real.19
  it.each(contextFaults)('reports a context window that overflows %s as such', async (_, fault) => {
    const { error } = await errorOf({ fault });
    expect(error.code).toBe('agent_context_exhausted');
    expect(error.details.kind).toBe('token');
  });

  const ordinaryFaults: readonly (readonly [string, Fault])[] = [
    ['a broken server', { kind: 'http', status: 500 }],
    ['an unfinished answer', { kind: 'incomplete', reason: 'max_output_tokens' }],
    ['a stream that is always cut', { kind: 'cut' }],
  ];
  it.each(ordinaryFaults)('reports %s as an ordinary failure', async (_, fault) => {
    const { error } = await errorOf({ message: 'half of it', fault });
    expect(error.code).toBe('agent_turn_failed');
    expect(error.retryable).toBe(true);
  });

  it('reports an overloaded service as one that answers no one', async () => {
    const body = { error: { code: 'server_is_overloaded', message: 'The server is overloaded.' } };
    const { error } = await errorOf({ fault: { kind: 'http', status: 503, body } });
    expect(error).toMatchObject({ code: 'agent_turn_failed', details: { unreachable: true } });
  });

  // @conforms real.18
  it.each([
    ['a status of 500', { kind: 'http', status: 500 }],
    ['a cut stream', { kind: 'cut' }],
  ] as const)('completes the turn when %s is followed by an answer', async (_, fault) => {
    const scene = await makeScene({ scenario: { otherwise: [{ message: 'at last', fault, failTimes: 1 }] } });
    const { complete } = await scene.open();
    expect(await complete('Do it.')).toBe('at last');
    expect(scene.model.requests).toHaveLength(2);
  });

  it('runs the next turn of the same session after a failed one', async () => {
    const rules = [{ when: /break/, steps: [{ fault: { kind: 'http', status: 400 } as const }] }];
    const scene = await makeScene({ scenario: { rules } });
    const { session, complete } = await scene.open();
    expect(await session.runTurn('break')).toMatchObject({ status: 'failed' });
    expect(await complete('go on')).toBe('ok');
  });

  // @conforms real.20
  it('fails when nothing listens at the address of the model', async () => {
    const scene = await makeScene({ baseUrl: await closedAddress() });
    const { session } = await scene.open();
    expect(await session.runTurn('Do it.')).toMatchObject({
      status: 'failed',
      error: { code: 'agent_turn_failed', retryable: true },
    });
  });

  // @conforms real.21
  it('ends a turn in which Codex only reports that it waits for the network', async () => {
    const home = { features: { unbounded_connection_retries: true } };
    // It reports that at once, then after five seconds, ten, twenty, and so on.
    const scene = await makeScene({ baseUrl: await closedAddress(), home, options: { turnTimeoutMs: 2_000 } });
    const { session } = await scene.open();
    expect(await session.runTurn('Do it.')).toMatchObject({
      status: 'failed',
      error: { code: 'agent_turn_timeout' },
    });
  });

  it('ends a turn after the turn timeout when the model falls silent', async () => {
    const scene = await makeScene({
      scenario: { otherwise: [{ message: 'half of it', fault: { kind: 'hang' } }] },
      options: { turnTimeoutMs: 1_500 },
    });
    const { session } = await scene.open();
    expect(await session.runTurn('Do it.')).toMatchObject({
      status: 'failed',
      error: { code: 'agent_turn_timeout' },
    });
  });
});

/** A port that was free a moment ago. */
async function closedAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}/v1`;
}
