import { expect, it } from 'vitest';
import type { JudgeSettings, Settings } from '../../../src/core/settings.ts';
import { issue } from '../../fake/issues.ts';
import type { Scene } from '../scene.ts';
import { commit, inReviewMode, minute, reviewed } from './review-scene.ts';

/** Without extra slots for judges. */
function withSlots(maxConcurrentAgents: number, judge: Partial<JudgeSettings> = {}): Settings {
  return {
    ...reviewed,
    agent: { ...reviewed.agent, maxConcurrentAgents, stallTimeoutMs: 0 },
    judge: { ...reviewed.judge, agents: ['default'], extraSlotsPercent: 0, ...judge },
  };
}

/** Each run, as its role and its issue. */
const started = ({ runs }: Pick<Scene, 'runs'>) =>
  runs.map(({ request: { judged, issue: of } }) => `${judged === null ? 'worker' : 'judge'} ${of.id}`);

function put({ tracker }: Scene, id: string, priority: number | null = null): void {
  tracker.put(issue({ id, identifier: `T-${id}`, priority }));
}

async function poll(stage: Scene): Promise<void> {
  stage.orchestrator.wake();
  await stage.clock.advance(5_000);
}

// @conforms 4.13, 4.19
it('starts retries that wait before new work, and a judge before a worker of a higher priority', async () => {
  const stage = await inReviewMode({ settings: withSlots(1) });
  commit(stage.runs[0], 'commit-1');
  await stage.clock.advance(minute);
  expect(started(stage)).toEqual(['worker 1', 'judge 1']);
  put(stage, '2', 1);
  put(stage, '3', 2);
  put(stage, '4', 1);
  await poll(stage);
  stage.runs[1]?.fail();
  await stage.clock.advance(1_000);
  stage.runs[2]?.fail();
  await stage.clock.advance(minute);
  expect(started(stage).slice(2)).toEqual(['worker 2', 'worker 4']);
  expect(stage.orchestrator.read().retrying).toHaveLength(2);
  for (const nth of [3, 4]) {
    stage.runs[nth]?.fail();
    await stage.clock.advance(1_000);
  }
  expect(started(stage).slice(4)).toEqual(['judge 1', 'worker 2']);
});

// @conforms 4.112, 4.113
it('leaves one slot to a worker that waits, also when the retry of a judge is due', async () => {
  const stage = await inReviewMode({ settings: withSlots(2) });
  put(stage, '2');
  await poll(stage);
  commit(stage.runs[0], 'commit-1');
  commit(stage.runs[1], 'commit-1', { branch: 'baton/t-2' });
  await stage.clock.advance(minute);
  // No worker waits: judges use both slots.
  expect(started(stage).slice(2).toSorted()).toEqual(['judge 1', 'judge 2']);
  stage.runs[started(stage).indexOf('judge 2')]?.fail();
  put(stage, '3', 1);
  put(stage, '4', 2);
  await poll(stage);
  await stage.clock.advance(minute);
  expect(stage.orchestrator.read().retrying).toMatchObject([{ issue: { id: '2' } }]);
  stage.runs[4]?.fail();
  await stage.clock.advance(1_000);
  expect(started(stage).slice(4)).toEqual(['worker 3', 'worker 4']);
});
