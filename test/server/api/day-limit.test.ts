import { expect, it } from 'vitest';
import { now } from '../../../src/client/schema/now.ts';
import { settings } from '../../fake/settings.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';
import { begun, spend } from '../../orchestrator/scene.ts';
import { telling } from '../../telling.ts';
import { apiOf, projectOf } from './api-scene.ts';

// @conforms notify.13
it('a reached limit of the day needs a person, says what was spent, and `resume` allows more', async () => {
  const stage = await begun({
    clock: new SimulatedClock({ startAt: Date.UTC(2026, 0, 5, 12) }),
    settings: settings({ intervalMs: 100, limits: { tokensPerDay: 1_000 } }),
  });
  const { ask } = await apiOf([projectOf(stage)]);
  const needsYou = async () => now.strict().parse((await ask('GET', '/api/v1/projects/test')).json).needs_you;
  spend(stage.runs[0], 999);
  expect(await needsYou()).toEqual([]);
  spend(stage.runs[0], 1_000);
  stage.runs[0]?.end();
  await stage.clock.advance(60_000);
  const row = {
    issue_id: null,
    issue_identifier: null,
    title: null,
    issue_url: null,
    run_id: null,
    question_id: null,
    kind: 'limit',
    code: 'tokens_per_day',
    since: null,
    waits_until: null,
    actions: ['resume'],
  };
  const [first, ...others] = await needsYou();
  expect(others).toEqual([]);
  expect(first).toEqual({
    ...row,
    key: 'limit:tokens_per_day:2026-01-05:0',
    reason: telling('1,000', 'limits.tokens_per_day', '00:00 UTC', 'baton resume'),
  });
  expect((await ask('POST', '/api/v1/projects/test/commands', { kind: 'resume' })).status).toBe(200);
  expect(await needsYou()).toEqual([]);
  await stage.clock.advance(1_000);
  spend(stage.runs[1], 1_000);
  expect(await needsYou()).toMatchObject([{ ...row, key: 'limit:tokens_per_day:2026-01-05:1000' }]);
});
