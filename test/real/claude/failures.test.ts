// @module-tag full
import { expect, it } from 'vitest';
import type { Step } from '../../fake/openai/scenario.ts';
import { describeWithClaude } from '../claude-binary.ts';
import { useClaudeScenes } from './claude-scene.ts';

const inAnHour = Math.floor(Date.now() / 1000) + 3_600;
const status = (code: number, more: Partial<Step> = {}, body?: unknown): Step => ({
  ...more,
  fault: { kind: 'http', status: code, ...(body === undefined ? {} : { body }) },
});
const refusal = (type: string, message: string): unknown => ({ type: 'error', error: { type, message } });

await describeWithClaude('failures of the model of a real Claude Code', (claude) => {
  const makeScene = useClaudeScenes(claude);

  it('are distinguished, and the session goes on after each', async () => {
    const scene = await makeScene();
    const { session, complete, events } = await scene.open();
    const failing = async (step: Step): Promise<unknown> => {
      scene.model.play({ otherwise: [step] });
      return session.runTurn('Try.');
    };
    expect(await failing(status(401))).toMatchObject({
      status: 'failed',
      error: { code: 'agent_auth_failed', details: { login: 'claude auth login' } },
    });
    expect(await failing(status(429, { headers: { 'retry-after': '3600' } }))).toMatchObject({
      status: 'failed',
      error: { code: 'agent_quota_exhausted', details: { may_be_rate_limit: true } },
    });
    const noCredit = refusal('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.');
    expect(await failing(status(400, {}, noCredit))).toMatchObject({
      status: 'failed',
      error: { code: 'agent_quota_exhausted', details: { billing: true } },
    });
    const tooLong = refusal('invalid_request_error', 'prompt is too long: 250000 tokens > 200000 maximum');
    expect(await failing(status(400, {}, tooLong))).toMatchObject({
      status: 'failed',
      error: { code: 'agent_context_exhausted', details: { kind: 'token' } },
    });
    expect(await failing(status(500))).toMatchObject({
      status: 'failed',
      error: { code: 'agent_turn_failed', details: { status: 500 } },
    });
    expect(await failing(status(529))).toMatchObject({
      status: 'failed',
      error: { code: 'agent_turn_failed', details: { status: 529, unreachable: true } },
    });
    // Each of these passes by itself.
    for (const code of [500, 529]) {
      scene.model.play({ otherwise: [{ ...status(code, { failTimes: 1 }), message: 'recovered' }] });
      expect(await complete(`After ${code}.`)).toBe('recovered');
    }
    expect(events.filter(({ summary }) => summary.startsWith('trying again')).length).toBeGreaterThanOrEqual(2);
    scene.model.play({ otherwise: [{ fault: { kind: 'cut' }, failTimes: 1, message: 'after the cut' }] });
    expect(await complete('Once more.')).toBe('after the cut');
  }, 60_000);

  it('that come from the quota of a plan say when it is back', async () => {
    const windows = {
      'anthropic-ratelimit-unified-status': 'rejected',
      'anthropic-ratelimit-unified-reset': String(inAnHour),
      'anthropic-ratelimit-unified-representative-claim': 'five_hour',
      'anthropic-ratelimit-unified-5h-utilization': '1',
      'anthropic-ratelimit-unified-5h-reset': String(inAnHour),
      'anthropic-ratelimit-unified-7d-utilization': '0.42',
      'anthropic-ratelimit-unified-7d-reset': String(inAnHour + 86_400),
    };
    const env = { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'not-a-token' };
    const scene = await makeScene({ env, scenario: { otherwise: [status(429, { headers: windows })] } });
    const { session, events } = await scene.open();
    expect(await session.runTurn('Try.')).toMatchObject({
      status: 'failed',
      error: { code: 'agent_quota_exhausted', details: { resets_at: inAnHour * 1_000 } },
    });
    expect(events.flatMap(({ quota }) => quota ?? [])).toEqual([
      { name: 'five_hour', usedPercent: 100, windowMinutes: 300, resetsAt: inAnHour * 1_000 },
      { name: 'seven_day', usedPercent: 42, windowMinutes: 10_080, resetsAt: (inAnHour + 86_400) * 1_000 },
    ]);
  });

  it('that refuse the connection end the turn', async () => {
    const scene = await makeScene({ baseUrl: 'http://127.0.0.1:9' });
    const { session } = await scene.open();
    expect(await session.runTurn('Try.')).toMatchObject({
      status: 'failed',
      error: { code: 'agent_turn_failed', details: { unreachable: true } },
    });
  });

  it('that come from a missing login end the turn with the command that logs in', async () => {
    const scene = await makeScene({ env: { ANTHROPIC_API_KEY: '' } });
    const { session } = await scene.open();
    expect(await session.runTurn('Try.')).toMatchObject({ status: 'failed', error: { code: 'agent_auth_failed' } });
    expect(scene.model.requests).toEqual([]);
  });
});
