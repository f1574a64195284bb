import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settings } from '../fake/settings.ts';
import { runs } from '../property-runs.ts';
import { begun, type Scene } from './scene.ts';

const minuteMs = 60_000;
/** How long the quota is used up; that is far more than a poll. */
const waitMs = 10 * minuteMs;
const person = { kind: 'person', name: 'me' } as const;

/** An issue that waits for a quota, polled every half a minute. */
async function waitingForQuota(isLocal = false): Promise<Scene> {
  const stage = await begun({ settings: settings({ intervalMs: 30_000 }), isLocal });
  stage.runs[0]?.fail('agent_quota_exhausted', { resets_at: stage.clock.now() + waitMs });
  await stage.clock.advance(minuteMs);
  expect(stage.orchestrator.read().waitingQuota).toHaveLength(1);
  return stage;
}

const claimsOf = ({ store, project, clock }: Scene) => store.claims.held(project, clock.now());

describe('an issue that waits for its retry', () => {
  // @conforms runs.71
  it.each(['Done', 'Backlog'])('and is moved to %s meanwhile is released by the polls', async (state) => {
    const stage = await waitingForQuota();
    await stage.tracker.changes.moveIssue('1', state, person);
    await stage.clock.advance(minuteMs + 1_000);
    expect(stage.orchestrator.read()).toMatchObject({ waitingQuota: [], retrying: [], held: [] });
    expect(await claimsOf(stage)).toEqual([]);
    expect(stage.orchestrator.read().completed).toHaveLength(state === 'Done' ? 1 : 0);
    await stage.clock.advance(waitMs + 3 * minuteMs);
    expect(stage.runs).toHaveLength(1);
  });

  it('is released by the next poll of a local tracker', async () => {
    const stage = await waitingForQuota(true);
    await stage.tracker.changes.moveIssue('1', 'Done', person);
    stage.orchestrator.wake();
    await stage.clock.advance(0);
    expect(stage.orchestrator.read().waitingQuota).toEqual([]);
    expect(await claimsOf(stage)).toEqual([]);
  });

  // @conforms runs.71
  it('costs no request while it is active, and one when it is not', async () => {
    const stage = await waitingForQuota();
    stage.calls.length = 0;
    await stage.clock.advance(5 * minuteMs);
    expect(stage.calls.filter(({ kind }) => kind === 'ids')).toEqual([]);
    await stage.tracker.changes.moveIssue('1', 'Done', person);
    await stage.clock.advance(waitMs + 3 * minuteMs);
    expect(stage.calls.filter(({ kind }) => kind === 'ids')).toHaveLength(1);
  });

  it('stays claimed when the tracker does not answer', async () => {
    const stage = await waitingForQuota();
    const read = stage.tracker.fetchByIds.bind(stage.tracker);
    await stage.tracker.changes.moveIssue('1', 'Done', person);
    stage.tracker.fetchByIds = async () => {
      throw new Error('no network');
    };
    await stage.clock.advance(2 * minuteMs);
    expect(stage.orchestrator.read().waitingQuota).toHaveLength(1);
    stage.tracker.fetchByIds = read;
    await stage.clock.advance(5 * minuteMs);
    expect(stage.orchestrator.read().waitingQuota).toEqual([]);
  });

  it('is worked on again when it becomes active again, with one run at a time', async () => {
    const states = fc.array(fc.constantFrom('Todo', 'Backlog', 'Done', 'In Progress'), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(states, fc.integer({ min: 1, max: 40_000 }), async (moves, everyMs) => {
        const stage = await waitingForQuota();
        for (const state of moves) {
          await stage.tracker.changes.moveIssue('1', state, person);
          await stage.clock.advance(everyMs);
        }
        await stage.tracker.changes.moveIssue('1', 'Todo', person);
        await stage.clock.advance(waitMs + 3 * minuteMs);
        // The account is ready again, and the issue to be done: it runs, however it was claimed meanwhile.
        expect(stage.orchestrator.read().running).toHaveLength(1);
        expect(stage.runs).toHaveLength(2);
        expect(await claimsOf(stage)).toHaveLength(1);
      }),
      { numRuns: runs(5) },
    );
  });
});
