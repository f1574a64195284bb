import { expect, it } from 'vitest';
import type { Settings } from '../../../src/core/settings.ts';
import { pipeline } from '../../core/pipeline/phase.ts';
import { boardScene, day, hour, pass, played, scanning } from './scan-scene.ts';

/** Every role that a file can switch on, with short pauses: only budgets and the lack of work hold them back. */
function everythingOn(): Settings {
  const all = scanning();
  return {
    ...all,
    agent: { ...all.agent, afterSuccess: 'review' },
    review: { ...all.review, autoMerge: ['auto-merge'] },
    judge: { ...all.judge, agents: ['default'] },
    pipeline: pipeline(),
    planner: { ...all.planner, enabled: true },
    learner: { ...all.learner, enabled: true, minLessons: 1, cooldownMs: 1, runsPerDay: 100 },
  };
}

// @conforms 4.111, 4.129
it('a day with everything on and nothing to do costs the scan that its budget allows, and nothing else', async () => {
  const stage = await boardScene({ ...played, settings: everythingOn() });
  await pass(stage, day - hour);
  expect(stage.runs.map(({ request }) => request.role)).toEqual(['scanner']);
  const rows = await stage.store.runs.list(stage.project, { limit: 10 });
  expect(rows.map(({ role }) => role)).toEqual(['scanner']);
});
