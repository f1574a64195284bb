// @module-tag full
import { expect, it } from 'vitest';
import type { Step } from '../../fake/openai/scenario.ts';
import { describeWithAcp } from '../acp-programs.ts';
import { useAcpScenes } from './acp-scene.ts';

const status = (code: number, more: Partial<Step> = {}, body?: unknown): Step => ({
  ...more,
  fault: { kind: 'http', status: code, ...(body === undefined ? {} : { body }) },
});
const inAnHour = Math.floor(Date.now() / 1000) + 3_600;

await describeWithAcp('failures of the model of a real agent', (program) => {
  const makeScene = useAcpScenes(program);
  const isCodex = program.preset === 'codex-acp';

  it('are distinguished, and the session goes on after each', async () => {
    const scene = await makeScene();
    const { session, complete } = await scene.open();
    const failing = async (step: Step, code: string, details = {}): Promise<void> => {
      scene.model.play({ otherwise: [step] });
      expect(await session.runTurn('Try.')).toMatchObject({ status: 'failed', error: { code, details } });
    };
    await failing(status(401), 'agent_auth_failed');
    const tooLong = isCodex
      ? { error: { code: 'context_length_exceeded', message: 'Your input exceeds the context window of this model.' } }
      : {
          type: 'error',
          error: { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' },
        };
    await failing(status(400, {}, tooLong), 'agent_context_exhausted');
    // OpenCode waits silently, and so does Codex for a 429 that is no used-up quota. Claude says the time for a plan only.
    const usedUp = { error: { type: 'usage_limit_reached', message: 'no more', resets_at: inAnHour } };
    // Codex says it to the minute.
    const resets = { resets_at: expect.closeTo(inAnHour * 1_000, -6) };
    if (isCodex) await failing(status(429, {}, usedUp), 'agent_quota_exhausted', resets);
    if (program.preset === 'claude-agent-acp') await failing(status(429), 'agent_quota_exhausted');
    const overloaded = isCodex
      ? status(503, {}, { error: { code: 'server_is_overloaded', message: 'The server is overloaded.' } })
      : status(529);
    if (program.preset !== 'opencode') {
      await failing(status(500), 'agent_turn_failed', expect.not.objectContaining({ unreachable: true }));
      await failing(overloaded, 'agent_turn_failed', { unreachable: true });
    }
    for (const code of [500, 529]) {
      scene.model.play({ otherwise: [{ ...status(code, { failTimes: 1 }), message: 'recovered' }] });
      expect(await complete(`After ${code}.`)).toBe('recovered');
    }
  });

  if (program.preset === 'opencode') {
    it.each([429, 500, 529])('with status %s end the turn by silence, because it tries for ever', async (code) => {
      const scene = await makeScene({
        scenario: { otherwise: [status(code, { headers: { 'retry-after': '3600' } })] },
      });
      const { session } = await scene.open({}, { turnTimeoutMs: 5_000 });
      expect(await session.runTurn('Try.')).toMatchObject({ status: 'failed', error: { code: 'agent_turn_timeout' } });
      expect(scene.model.requests.length).toBeGreaterThan(0);
    });
  }

  it('that refuse the connection end the turn, by silence where the agent tries for ever', async () => {
    const scene = await makeScene({ baseUrl: 'http://127.0.0.1:9' });
    const isSilent = program.preset === 'opencode';
    const { session } = await scene.open({}, isSilent ? { turnTimeoutMs: 3_000 } : {});
    expect(await session.runTurn('Try.')).toMatchObject({
      status: 'failed',
      error: isSilent ? { code: 'agent_turn_timeout' } : { code: 'agent_turn_failed', details: { unreachable: true } },
    });
  });
});
