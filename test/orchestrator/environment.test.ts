import { describe, expect, it } from 'vitest';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { begun, type SceneOptions } from './scene.ts';

const five = ['1', '2', '3', '4', '5'].map((id) => issue({ id }));
const usual = settings({ intervalMs: 1_000, agent: { maxConcurrentAgents: 3, maxRetries: 3 } });

/** A repository that does not answer, until it does. */
async function outage(more: SceneOptions = {}) {
  const world = { works: false };
  const tries: number[] = [];
  const clock = more.clock ?? new SimulatedClock();
  const stage = await begun({
    clock,
    issues: five,
    settings: usual,
    play: (run) => {
      tries.push(clock.monotonic());
      if (world.works) run.request.report({ kind: 'prompt_delivered', hasComments: true });
      else run.failEarly('repository_unavailable');
    },
    ...more,
  });
  return { stage, world, tries };
}

const minute = 60_000;

describe('an environment in which no run can begin', () => {
  it('holds no issue and counts no failure, is tried by one run at a time, and ends with the first that begins', async () => {
    const { stage, world, tries } = await outage();
    await stage.clock.advance(60 * minute);
    expect(stage.orchestrator.read().held).toEqual([]);
    const retrying = stage.orchestrator.read().retrying;
    expect(retrying.length).toBeGreaterThan(0);
    for (const { attempt } of retrying) expect(attempt).toBeNull();
    // Three slots fail together; then one run at a time, at a growing interval of at most five minutes.
    const later = tries.slice(3);
    expect(later.length).toBeGreaterThan(10);
    expect(later.length).toBeLessThan(25);
    expect(new Set(later).size).toBe(later.length);
    expect(stage.logger.lines.filter(({ event }) => event === 'environment_failed')).toHaveLength(1);
    world.works = true;
    await stage.clock.advance(6 * minute);
    expect(stage.logger.lines.filter(({ event }) => event === 'environment_back')).toHaveLength(1);
    expect(stage.orchestrator.read().running).toHaveLength(3);
    for (const { attempt } of stage.orchestrator.read().running) expect(attempt).toBeNull();
  });

  it('is named with the code of the error wherever a reason is asked for', async () => {
    const { stage } = await outage();
    await stage.clock.advance(2_000);
    expect(stage.orchestrator.read().environment).toMatchObject({ code: 'repository_unavailable' });
    expect(stage.orchestrator.read().skipped.map(({ reason }) => reason.code)).toContain('environment');
    expect(await stage.orchestrator.explain('5')).toMatchObject({ reason: { code: 'environment' }, nextCode: 'waits' });
  });

  it('lets a second issue try first, so that one that cannot start is found and counted', async () => {
    const bad = '1';
    const stage = await begun({
      issues: five,
      settings: settings({ intervalMs: 1_000, agent: { maxConcurrentAgents: 5, maxRetries: 3 } }),
      play: (run) => {
        if (run.request.issue.id === bad) run.failEarly('repository_unavailable');
        else run.request.report({ kind: 'prompt_delivered', hasComments: true });
      },
    });
    await stage.clock.advance(10 * minute);
    expect(stage.orchestrator.read().held).toMatchObject([{ issue: { id: bad }, code: 'retries_exhausted' }]);
  });

  it('is tried at once when a person retries an issue', async () => {
    const { stage, world, tries } = await outage();
    await stage.clock.advance(10 * minute);
    world.works = true;
    const before = tries.length;
    const [waiting] = stage.orchestrator.read().skipped;
    expect(await stage.command('issue_retry', { issue: waiting?.issue.id })).toMatchObject({ code: 'retry_now' });
    await stage.clock.advance(1_000);
    expect(tries.length).toBeGreaterThan(before);
    expect(stage.orchestrator.read().environment).toBeNull();
  });

  it('after a restart nothing is counted either', async () => {
    const { stage } = await outage();
    await stage.clock.advance(30_000);
    await stage.orchestrator.stop();
    const { stage: next } = await outage({ store: stage.store, clock: stage.clock, tracker: stage.tracker });
    await next.clock.advance(20 * minute);
    expect(next.orchestrator.read().held).toEqual([]);
  });
});
