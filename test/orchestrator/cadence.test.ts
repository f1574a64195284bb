import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import type { PollingSettings } from '../../src/core/settings.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { telling } from '../telling.ts';
import { begun, pair, type Scene, type SceneOptions } from './scene.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const person = { kind: 'person', name: 'me' } as const;

const adaptive = (polling: Partial<PollingSettings> = {}) => settings({ polling: { mode: 'adaptive', ...polling } });

/** An adaptive daemon on a remote tracker, hours after anything happened. */
async function dormant(options: SceneOptions = {}): Promise<Scene> {
  const stage = await begun({ issues: [], settings: adaptive(), ...options });
  // Two minutes after its last poll, and before the next one.
  await stage.clock.advance(3 * hour + 2 * minute);
  expect(stage.orchestrator.read().polling.mode).toBe('dormant');
  stage.calls.length = 0;
  return stage;
}

const polls = ({ calls }: Scene): number => calls.filter(({ kind }) => kind === 'states').length;

describe('adaptive polling', () => {
  // @conforms 3.23, 3.24, 3.25
  it('is active for ten minutes, idle for the rest of the hour, then dormant', async () => {
    const stage = await begun({ issues: [], settings: adaptive() });
    const seen = async (ms: number): Promise<[string, number]> => {
      stage.calls.length = 0;
      await stage.clock.advance(ms);
      return [stage.orchestrator.read().polling.mode, polls(stage)];
    };
    expect(await seen(10 * minute - second)).toEqual(['active', 39]);
    expect((await seen(50 * minute))[0]).toBe('idle');
    expect(polls(stage)).toBeLessThanOrEqual(51);
    const [mode, count] = await seen(hour);
    expect([mode, count >= 11 && count <= 13]).toEqual(['dormant', true]);
  });

  // @conforms 3.31
  it.each<[string, (stage: Scene) => unknown]>([
    ['a person who uses a command', (stage) => stage.command('pause')],
    ['a person who wakes it', (stage) => stage.orchestrator.wake()],
    [
      'the touch of a file',
      (stage) => {
        stage.touch.at = stage.clock.now();
      },
    ],
  ])('returns to the fast pace at once by %s', async (_what, happens) => {
    const stage = await dormant();
    await happens(stage);
    await stage.clock.advance(6 * second);
    expect(stage.orchestrator.read().polling.mode).toBe('active');
    expect(polls(stage)).toBe(1);
    await stage.clock.advance(minute);
    expect(polls(stage)).toBeGreaterThanOrEqual(4);
  });

  // @conforms 3.20
  it('returns to the fast pace when an issue appears or changes, and when a run ends', async () => {
    const stage = await dormant();
    const asleep = async (): Promise<void> => {
      await stage.clock.advance(3 * hour);
      expect(stage.orchestrator.read().polling.mode).toBe('dormant');
    };
    const within5Minutes = async (): Promise<string> => {
      await stage.clock.advance(6 * minute);
      return stage.orchestrator.read().polling.mode;
    };
    stage.tracker.put(issue({ id: '1', dispatchable: false }));
    expect(await within5Minutes()).toBe('active');
    await asleep();
    stage.tracker.put(issue({ id: '1', dispatchable: false, labels: ['new'] }));
    expect(await within5Minutes()).toBe('active');
    await asleep();
    stage.tracker.put(issue({ id: '1' }));
    await within5Minutes();
    expect(stage.runs).toHaveLength(1);
    stage.runs[0]?.request.report({ kind: 'event', event: { name: 'notification', at: 0, pid: 1, summary: '' } });
  });

  it('ignores a touch of the file with an old time or one in the future', async () => {
    const stage = await dormant();
    stage.touch.at = stage.clock.now() - 2 * hour;
    await stage.clock.advance(minute);
    expect(stage.orchestrator.read().polling.mode).toBe('dormant');
    stage.touch.at = stage.clock.now() + 100 * hour;
    await stage.clock.advance(6 * second);
    expect(stage.orchestrator.read().polling.mode).toBe('active');
    await stage.clock.advance(2 * hour);
    expect(stage.orchestrator.read().polling.mode).toBe('dormant');
  });

  // @conforms 3.32
  it('stays slow in quiet hours whatever happens, but a person gets one poll', async () => {
    const clock = new SimulatedClock({ startAt: Date.UTC(2026, 5, 1, 1) });
    const quietHours = { fromMinute: 0, toMinute: 7 * 60, timeZone: 'UTC' };
    const stage = await begun({ clock, issues: [], settings: adaptive({ quietHours }) });
    await clock.advance(minute);
    stage.calls.length = 0;
    stage.orchestrator.wake();
    await clock.advance(4 * minute);
    expect([stage.orchestrator.read().polling.mode, polls(stage)]).toEqual(['quiet', 1]);
    await clock.advance(6 * hour);
    expect(stage.orchestrator.read().polling.mode).toBe('dormant');
  });

  // @conforms octo-6.1
  it('serves live runs at once in quiet hours: an exit, a stall', async () => {
    const clock = new SimulatedClock({ startAt: Date.UTC(2026, 5, 1, 1) });
    const quietHours = { fromMinute: 0, toMinute: 7 * 60, timeZone: 'UTC' };
    const stage = await begun({
      clock,
      issues: [issue({ id: '1' }), issue({ id: '2' })],
      settings: settings({ agent: { stallTimeoutMs: minute }, polling: { mode: 'adaptive', quietHours } }),
    });
    stage.runs[0]?.fail();
    await clock.advance(0);
    expect(stage.orchestrator.read().retrying).toHaveLength(1);
    await clock.advance(minute + 5 * second);
    expect(stage.runs[1]?.stops).toEqual(['stalled']);
  });
});

describe('a machine that slept', () => {
  // @conforms cadence.13
  it('wakes to one poll when its clock stood still', async () => {
    const stage = await dormant();
    await stage.clock.advance(minute);
    stage.calls.length = 0;
    stage.clock.jumpWall(8 * hour);
    await stage.clock.advance(10 * second);
    expect(polls(stage)).toBe(1);
    await stage.clock.advance(4 * minute);
    expect(polls(stage)).toBe(1);
  });
});

describe('a tracker that does not answer', () => {
  const down = async (): Promise<never> => {
    throw new BatonError('tracker_status', 'HTTP 502');
  };

  // @conforms F110
  it('is asked less and less often, only by polls, and at once when a person asks', async () => {
    const stage = await begun({ issues: ['1', '2', '3'].map((id) => issue({ id })), settings: settings() });
    for (const run of stage.runs) run.fail();
    const { fetchByStates, fetchByIds } = stage.tracker;
    Object.assign(stage.tracker, { fetchByStates: down, fetchByIds: down });
    stage.calls.length = 0;
    await stage.clock.advance(hour);
    // Every half minute it would be 120; the looks of three retries would be as many again.
    expect(stage.calls.length).toBeLessThanOrEqual(20);
    expect(stage.orchestrator.read().retrying).toHaveLength(3);
    stage.calls.length = 0;
    stage.orchestrator.wake();
    await stage.clock.advance(0);
    expect(polls(stage)).toBe(1);
    Object.assign(stage.tracker, {
      fetchByStates: fetchByStates.bind(stage.tracker),
      fetchByIds: fetchByIds.bind(stage.tracker),
    });
    await stage.clock.advance(6 * minute);
    expect(
      stage.runs
        .slice(3)
        .map(({ request }) => request.issue.id)
        .toSorted(),
    ).toEqual(['1', '2', '3']);
  });

  // @conforms cadence.14
  it('that names a time is asked then, and not before', async () => {
    const stage = await begun({ issues: [issue({ id: '1' })], settings: settings() });
    const until = stage.clock.now() + 20 * minute;
    const { fetchByStates } = stage.tracker;
    stage.tracker.fetchByStates = async () => {
      throw new BatonError('tracker_rate_limited', 'too many', { details: { until } });
    };
    await stage.clock.advance(minute);
    stage.tracker.fetchByStates = fetchByStates.bind(stage.tracker);
    stage.calls.length = 0;
    await stage.clock.advance(19 * minute - 1);
    expect(stage.calls).toEqual([]);
    // Not everybody who was told the same time comes in the same second.
    await stage.clock.advance(3 * second + 1);
    expect(polls(stage)).toBe(1);
  });
});

describe('a read by a person while the tracker is down', () => {
  it('delays no poll, and returns the last known state', async () => {
    const stage = await begun({ issues: [issue({ id: '1' })], settings: settings({ intervalMs: 5_000 }) });
    const down = async (): Promise<never> => {
      throw new BatonError('tracker_status', 'HTTP 502');
    };
    Object.assign(stage.tracker, { fetchByStates: down, fetchByIds: down });
    await stage.clock.advance(2_000);
    for (let nth = 0; nth < 5; nth += 1) {
      expect(await stage.orchestrator.explain('1')).toMatchObject({ issue: { id: '1' }, reason: { code: 'claimed' } });
      await stage.clock.advance(100);
    }
    stage.calls.length = 0;
    await stage.clock.advance(20_000);
    // At five seconds, and ten after that.
    expect(polls(stage)).toBe(2);
  });
});

describe('backpressure', () => {
  // @conforms cadence.30
  it('counts the issues in review with the regular poll', async () => {
    const stage = await begun({
      issues: [issue({ id: '1', state: 'In Review' }), issue({ id: '2' }), issue({ id: '3' })],
      settings: settings({
        intervalMs: 100,
        agent: { maxInReview: 1, maxConcurrentAgents: 1 },
        tracker: { reviewStates: ['in review'] },
      }),
    });
    expect(stage.started()).toEqual([]);
    expect(stage.orchestrator.read().skipped.map(({ reason }) => reason)).toEqual(
      Array(2).fill({ code: 'max_in_review', text: telling('agent.max_in_review', 1) }),
    );
    await stage.tracker.changes.moveIssue('1', 'Done', person);
    stage.calls.length = 0;
    await stage.clock.advance(100);
    expect(stage.started()).toEqual(['2']);
    expect(stage.calls).toHaveLength(1);
  });

  // @conforms cadence.29
  it('on claims holds for two daemons that decide at the same time', async () => {
    const wanted = settings({ intervalMs: 100, agent: { maxClaimed: 3 } });
    const issues = ['1', '2', '3', '4', '5'].map((id) => issue({ id }));
    const [one, other] = await pair({ issues, settings: wanted });
    await Promise.all([one.orchestrator.start(), other.orchestrator.start()]);
    await one.clock.advance(second);
    expect(one.started().length + other.started().length).toBe(3);
    const reasons = [one, other].flatMap(({ orchestrator }) => orchestrator.read().skipped.map(({ reason }) => reason));
    expect(reasons.map(({ code }) => code)).toContain('max_claimed');
  });
});

describe('a decision', () => {
  // @conforms octo-6.2
  it('is not made again while its inputs are unchanged', async () => {
    const issues = [issue({ id: '1' }), issue({ id: '2' })];
    const stage = await begun({
      issues,
      settings: settings({ intervalMs: 100, agent: { maxConcurrentAgents: 1 } }),
    });
    // The start of a run is a change of its own.
    await stage.clock.advance(10 * second);
    const { skipped } = stage.orchestrator.read();
    // A decision writes its reasons anew; one that is not made leaves them as they are.
    await stage.clock.advance(10 * second);
    expect(stage.orchestrator.read().skipped[0]).toBe(skipped[0]);
    stage.tracker.put(issue({ id: '3' }));
    await stage.clock.advance(100);
    expect(stage.orchestrator.read().skipped.map((each) => each.issue.id)).toEqual(['2', '3']);
    expect(stage.orchestrator.read().skipped[0]).not.toBe(skipped[0]);
  });
});
