import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { begun, gate, type Scene, type SceneOptions, scene } from './scene.ts';

const hour = 3_600_000;
const person = { kind: 'person', name: 'me' } as const;

/** From now on the tracker takes so long for each read. */
function slowDown({ tracker, clock }: Scene, delayMs: number): void {
  const { fetchByStates, fetchByIds } = tracker;
  const wait = (): Promise<void> => {
    const { passed, open } = gate();
    clock.schedule(delayMs, open);
    return passed;
  };
  tracker.fetchByStates = async (...parts) => {
    const answer = await fetchByStates.apply(tracker, parts);
    await wait();
    return answer;
  };
  tracker.fetchByIds = async (...parts) => {
    const answer = await fetchByIds.apply(tracker, parts);
    await wait();
    return answer;
  };
}

const kinds = ({ calls }: Scene): string[] => calls.map(({ kind }) => kind);

// @conforms X15
describe('while the tracker takes ten seconds to answer', () => {
  const waiting = async (options: SceneOptions = {}) => {
    const stage = await begun({ issues: [issue({ id: '1' }), issue({ id: '2' })], ...options });
    slowDown(stage, 10_000);
    await stage.clock.advance(100);
    expect(stage.orchestrator.read().polling.pollCheckInProgress).toBe(true);
    return stage;
  };

  it('the exit of a run is settled at once', async () => {
    const stage = await waiting();
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    expect(stage.orchestrator.read()).toMatchObject({ running: [{}], retrying: [{ issue: { id: '1' } }] });
    expect(await stage.store.retries.list(stage.project)).toHaveLength(1);
  });

  it('two exits in a row are settled, and each is in the status at once', async () => {
    const stage = await waiting();
    for (const [index, run] of stage.runs.entries()) {
      run.succeed();
      await stage.clock.advance(0);
      expect(stage.orchestrator.read().retrying).toHaveLength(index + 1);
    }
  });

  it('a due retry is served: it makes its own read', async () => {
    const stage = await begun({ settings: settings({ intervalMs: hour }) });
    slowDown(stage, 10_000);
    await stage.clock.advance(1_000);
    stage.orchestrator.refresh();
    await stage.clock.advance(0);
    stage.runs[0]?.succeed();
    await stage.clock.advance(1_000);
    expect(stage.calls.at(-1)).toMatchObject({ kind: 'ids', asked: ['1'], at: 2_000 });
    await stage.clock.advance(10_000);
    expect(stage.started()).toEqual(['1', '1']);
  });

  it('a stall is found', async () => {
    const stage = await waiting({ settings: settings({ intervalMs: 100, agent: { stallTimeoutMs: 3_000 } }) });
    await stage.clock.advance(5_000);
    expect(stage.runs.map(({ stops }) => stops)).toEqual([['stalled'], ['stalled']]);
  });

  it('a command and a limit are served', async () => {
    const stage = await waiting({ settings: settings({ intervalMs: 100, limits: { runWallTimeMs: 3_000 } }) });
    expect(await stage.command('pause')).toMatchObject({ status: 'done' });
    await stage.clock.advance(5_000);
    expect(stage.runs[0]?.stops).toEqual(['limit_reached']);
  });
});

describe('a poll', () => {
  // @conforms tick.5
  it('covers candidates and running issues with one read', async () => {
    const stage = await begun({ issues: Array.from({ length: 10 }, (_, index) => issue({ id: `${index}` })) });
    stage.calls.length = 0;
    await stage.clock.advance(1_000);
    expect(kinds(stage)).toEqual(Array(10).fill('states'));
  });

  it('reads by id only the claimed issues that its answer lacks', async () => {
    const stage = await begun({ issues: [issue({ id: '1' }), issue({ id: '2' }), issue({ id: '3' })] });
    await stage.tracker.changes.moveIssue('2', 'Done', person);
    await stage.clock.advance(2_000);
    stage.calls.length = 0;
    await stage.clock.advance(100);
    expect(stage.calls.map(({ kind, asked }) => [kind, kind === 'ids' ? asked : []])).toEqual([['states', []]]);
    expect(stage.runs.map(({ stops }) => stops)).toEqual([[], ['terminal_state'], []]);
    await stage.clock.advance(2_000);
    expect(stage.calls.filter(({ kind }) => kind === 'ids').every(({ asked }) => asked.join() === '2')).toBe(true);
  });

  it('that fails keeps runs, retries, holds and candidates', async () => {
    const stage = await begun({
      issues: ['1', '2', '3', '4'].map((id) => issue({ id })),
      settings: settings({ intervalMs: 100, agent: { maxConcurrentAgents: 3 } }),
    });
    stage.runs[0]?.fail();
    stage.runs[1]?.fail('agent_input_required');
    await stage.clock.advance(1_000);
    const fail = async (): Promise<never> => {
      throw new BatonError('tracker_status', 'HTTP 502');
    };
    Object.assign(stage.tracker, { fetchByStates: fail, fetchByIds: fail });
    await stage.clock.advance(60_000);
    const { running, retrying, held, errors } = stage.orchestrator.read();
    const ids = [running, retrying, held].map((entries) => entries.map((each) => each.issue.id));
    expect(ids).toEqual([['3', '4'], ['1'], ['2']]);
    expect(stage.runs.flatMap(({ stops }) => stops)).toEqual([]);
    expect(errors.map(({ step }) => step)).toContain('dispatch');
  });

  // @conforms tick.6
  it('runs one at a time; a request meanwhile causes another right after it', async () => {
    const stage = await begun({ settings: settings({ intervalMs: hour }) });
    slowDown(stage, 10_000);
    await stage.clock.advance(1_000);
    stage.calls.length = 0;
    for (let asked = 0; asked < 5; asked += 1) {
      stage.orchestrator.refresh();
      await stage.clock.advance(1_000);
    }
    expect(kinds(stage)).toEqual(['states']);
    await stage.clock.advance(5_000);
    expect(stage.calls.map(({ kind, at }) => [kind, at])).toEqual([
      ['states', 1_000],
      ['states', 11_000],
    ]);
    await stage.clock.advance(60_000);
    expect(kinds(stage)).toEqual(['states', 'states']);
  });

  // @conforms tick.7
  it('that never settles is given up after two minutes, and the next one works', async () => {
    const stage = await begun({ issues: [], settings: settings({ intervalMs: 30_000 }) });
    const { fetchByStates } = stage.tracker;
    stage.tracker.fetchByStates = () => new Promise(() => {});
    await stage.clock.advanceUntil(() => stage.orchestrator.read().polling.pollCheckInProgress, 60_000);
    await stage.clock.advance(0);
    stage.tracker.fetchByStates = fetchByStates.bind(stage.tracker);
    stage.tracker.put(issue({ id: '1' }));
    await stage.clock.advance(119_999);
    expect(stage.started()).toEqual([]);
    await stage.clock.advance(1);
    expect(stage.orchestrator.read().errors).toMatchObject([{ step: 'dispatch', error: { code: 'tracker_request' } }]);
    // The wait is longer than it was before the failure.
    await stage.clock.advance(59_000);
    expect(stage.started()).toEqual([]);
    await stage.clock.advance(10_000);
    expect(stage.started()).toEqual(['1']);
  });

  it('that takes long but reports progress is waited for', async () => {
    const stage = await begun({ issues: [], settings: settings({ intervalMs: 30_000 }) });
    stage.tracker.fetchByStates = async (_states, ask) => {
      for (let page = 0; page < 10; page += 1) {
        const { passed, open } = gate();
        stage.clock.schedule(100_000, open);
        await passed;
        ask?.onProgress?.();
      }
      // What was read so long ago is read once more before it starts.
      stage.tracker.put(issue({ id: '1' }));
      return [issue({ id: '1' })];
    };
    stage.orchestrator.refresh();
    await stage.clock.advance(1_100_000);
    expect(stage.started()).toEqual(['1']);
    expect(stage.orchestrator.read().errors).toEqual([]);
  });

  it('still fills the slots when an obsolete hold cannot be lifted in the store', async () => {
    const stage = await begun({ issues: [issue({ id: '1' }), issue({ id: '2', state: 'Backlog' })] });
    stage.runs[0]?.fail('agent_input_required');
    await stage.clock.advance(0);
    await stage.tracker.changes.moveIssue('1', 'Backlog', person);
    await stage.tracker.changes.moveIssue('2', 'Todo', person);
    const { transaction } = stage.store;
    let failures = 0;
    stage.store.transaction = (work) => {
      failures += 1;
      if (failures === 1) return Promise.reject(new BatonError('store_busy', 'busy'));
      return transaction(work);
    };
    await stage.clock.advance(100);
    expect(stage.started()).toEqual(['1', '2']);
    await stage.clock.advance(100);
    expect(stage.orchestrator.read().held).toEqual([]);
  });
});

describe('reads', () => {
  // @conforms tick.8
  it('of retries and revalidations that are due together share one', async () => {
    const stage = await begun({
      issues: Array.from({ length: 20 }, (_, index) => issue({ id: `${index}` })),
      settings: settings({ intervalMs: hour, agent: { maxConcurrentAgents: 20 } }),
    });
    for (const run of stage.runs) run.succeed();
    await stage.clock.advance(999);
    stage.calls.length = 0;
    await stage.clock.advance(1);
    expect(stage.calls).toMatchObject([{ kind: 'ids' }]);
    expect(stage.calls[0]?.asked.toSorted()).toHaveLength(20);
    expect(stage.runs).toHaveLength(40);
  });

  it('are not repeated within the freshness, but after it', async () => {
    const stage = await begun({
      issues: ['1', '2'].map((id) => issue({ id })),
      settings: settings({ intervalMs: hour, agent: { maxConcurrentAgents: 1 } }),
    });
    await stage.clock.advance(1_000);
    stage.calls.length = 0;
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    expect([stage.calls, stage.started()]).toEqual([[], ['1', '2']]);

    const later = await begun({
      issues: ['1', '2'].map((id) => issue({ id })),
      settings: settings({ intervalMs: hour, agent: { maxConcurrentAgents: 1 } }),
    });
    await later.clock.advance(1_001);
    later.calls.length = 0;
    later.runs[0]?.fail();
    await later.clock.advance(0);
    expect(later.calls).toMatchObject([{ kind: 'ids', asked: ['2'] }]);
  });

  it('repeat an issue that is forgotten while it is read', async () => {
    const stage = await begun({ settings: settings({ intervalMs: hour }) });
    const { fetchByIds } = stage.tracker;
    const slow = gate();
    stage.runs[0]?.succeed();
    stage.tracker.fetchByIds = async (...parts) => {
      const answer = await fetchByIds.apply(stage.tracker, parts);
      await slow.passed;
      return answer;
    };
    await stage.clock.advance(1_000);
    await stage.tracker.changes.moveIssue('1', 'Done', person);
    stage.tracker.fetchByIds = fetchByIds.bind(stage.tracker);
    stage.orchestrator.wake();
    slow.open();
    await stage.clock.advance(0);
    expect(stage.started()).toEqual(['1']);
    expect(stage.orchestrator.read()).toMatchObject({ retrying: [], running: [] });
  });

  /** Two wait for one slot; the list takes ten seconds, an issue by its id no time. */
  const slowList = async () => {
    const stage = await begun({
      issues: ['1', '2'].map((id) => issue({ id })),
      settings: settings({ intervalMs: hour, agent: { maxConcurrentAgents: 1 } }),
    });
    await stage.clock.advance(5_000);
    const { fetchByIds } = stage.tracker;
    slowDown(stage, 10_000);
    stage.tracker.fetchByIds = fetchByIds.bind(stage.tracker);
    stage.orchestrator.refresh();
    await stage.clock.advance(1_000);
    await stage.tracker.changes.moveIssue('2', 'Done', person);
    return stage;
  };

  it('of a long list do not count as fresh for an issue that changed meanwhile', async () => {
    const stage = await slowList();
    await stage.clock.advance(8_999);
    stage.runs[0]?.fail('agent_input_required');
    await stage.clock.advance(5_000);
    expect(stage.started()).toEqual(['1']);
  });

  it('never replace a newer answer by an older one', async () => {
    const stage = await slowList();
    await stage.clock.advance(8_500);
    stage.runs[0]?.fail('agent_input_required');
    await stage.clock.advance(0);
    // The read after the exit takes the issue along that would start next.
    expect(stage.calls.at(-1)).toMatchObject({ kind: 'ids', asked: ['1', '2'] });
    await stage.clock.advance(500);
    expect(stage.started()).toEqual(['1']);
    await stage.clock.advance(5_000);
    expect(stage.started()).toEqual(['1']);
  });

  it('without any freshness are still bounded', async () => {
    const stage = await scene({
      issues: [issue({ id: '1' }), issue({ id: '2' })],
      settings: settings({ agent: { maxConcurrentAgents: 1 }, polling: { intervalMs: hour, freshnessMs: 0 } }),
    });
    const { monotonic } = stage.clock;
    let asked = 0;
    stage.clock.monotonic = () => {
      asked += 1;
      return monotonic.call(stage.clock) + asked / 1_000;
    };
    let reads = 0;
    const { fetchByIds } = stage.tracker;
    stage.tracker.fetchByIds = (...parts) => {
      reads += 1;
      if (reads > 100) throw new BatonError('tracker_status', 'enough');
      return fetchByIds.apply(stage.tracker, parts);
    };
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    expect(stage.started()).toEqual(['1']);
    stage.runs[0]?.fail('agent_input_required');
    await stage.clock.advance(0);
    expect(stage.started()).toEqual(['1', '2']);
    expect(reads).toBeLessThan(5);
  });

  // @conforms tick.9
  it('fifty instant issues finish as fast with half a minute between polls as with a tenth of a second', async () => {
    const drain = async (intervalMs: number) => {
      const tracker = { move: async (_id: string): Promise<void> => {} };
      const stage = await scene({
        issues: Array.from({ length: 50 }, (_, index) => issue({ id: `${index}` })),
        settings: settings({ intervalMs, agent: { maxConcurrentAgents: 5 } }),
        play: (run) => {
          void tracker.move(run.request.issue.id).then(() => run.succeed());
        },
      });
      tracker.move = async (id) => {
        await stage.tracker.changes.moveIssue(id, 'Done', person);
      };
      await stage.orchestrator.start();
      const isDone = (): boolean => {
        const { running, retrying } = stage.orchestrator.read();
        return stage.runs.length === 50 && running.length + retrying.length === 0;
      };
      expect(await stage.clock.advanceUntil(isDone, hour)).toBe(true);
      return { tookMs: stage.clock.monotonic(), reads: stage.calls.length };
    };
    const [often, seldom] = [await drain(100), await drain(30_000)];
    // A look comes after a second; a poll that comes before it gives back what is over, and the look is spared.
    expect(often.tookMs).toBeLessThanOrEqual(1_100);
    expect(seldom.tookMs).toBeLessThanOrEqual(1_100);
    expect(seldom.reads).toBeLessThanOrEqual(30);
  });
});

describe('the reads of runs whose turn has ended', () => {
  const three = () =>
    begun({
      issues: ['1', '2', '3'].map((id) => issue({ id })),
      settings: settings({ intervalMs: hour, agent: { maxConcurrentAgents: 3 } }),
    });
  const signal = new AbortController().signal;

  it('are one read that begins some time after the first of them, while another agent works', async () => {
    const stage = await three();
    stage.calls.length = 0;
    const reads: Promise<unknown>[] = [];
    for (const run of stage.runs.slice(0, 2)) {
      reads.push(run.request.readIssue(signal));
      await stage.clock.advance(20);
    }
    await stage.tracker.changes.moveIssue('1', 'Done', person);
    expect(stage.calls).toEqual([]);
    await stage.clock.advance(1_000);
    expect(stage.calls).toMatchObject([{ kind: 'ids', asked: ['1', '2'] }]);
    expect(await Promise.all(reads)).toMatchObject([{ state: 'Done' }, { state: 'Todo' }]);
  });

  it('are one read that begins with the last of them, when no other agent works', async () => {
    const stage = await three();
    stage.calls.length = 0;
    const reads = stage.runs.map((run) => run.request.readIssue(signal));
    await stage.clock.advance(1);
    expect(stage.calls).toMatchObject([{ kind: 'ids', asked: ['1', '2', '3'] }]);
    expect(await Promise.all(reads)).toHaveLength(3);
  });

  it('never use what was asked before the turn ended, and end with the run', async () => {
    const stage = await three();
    slowDown(stage, 10_000);
    stage.orchestrator.refresh();
    await stage.clock.advance(100);
    await stage.tracker.changes.moveIssue('1', 'Done', person);
    const read = stage.runs[0]?.request.readIssue(signal);
    const stop = new AbortController();
    const stopped = stage.runs[1]?.request.readIssue(stop.signal).catch(() => 'stopped');
    stop.abort();
    expect(await stopped).toBe('stopped');
    await stage.clock.advance(30_000);
    expect(await read).toMatchObject({ state: 'Done' });
  });
});
