import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import { createSlotPool } from '../../src/orchestrator/dispatch/slot-pool.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { storeThrough } from './faulty-store.ts';
import { begun, besides, gate, scene } from './scene.ts';

const quick = settings({ intervalMs: 100 });
const person = { kind: 'person', name: 'me' } as const;

// @conforms claims.6
it('a daemon whose renewals fail also ends runs that began after its deadline, before another daemon may have them', async () => {
  let isCut = false;
  const one = await begun({
    isShared: true,
    owner: 'one',
    settings: quick,
    through: (store) =>
      storeThrough(store, {
        before: (call) => {
          if (isCut && call === 'claims.renewAll') throw new BatonError('store_unavailable', 'cut');
        },
      }),
  });
  isCut = true;
  await one.clock.advance(20_000);
  expect(one.runs[0]?.stops).toEqual(['claim_lost']);
  one.runs[0]?.end();
  await one.clock.advance(1_000);
  // The rest of the store answers: the issue goes on here, under a lease that nobody renews.
  const second = one.runs[1] ?? expect.fail('it did not go on');
  await one.clock.advance(20_000);
  expect(second.stops).toEqual(['claim_lost']);
});

// @conforms claims.7
it('a hold by a person takes precedence over a retry that becomes due while it is written', async () => {
  const slow = gate();
  let isSlow = false;
  const stage = await begun({
    settings: quick,
    through: (store) =>
      storeThrough(store, {
        before: async (call) => {
          if (!isSlow || call !== 'transaction') return;
          isSlow = false;
          await slow.passed;
        },
      }),
  });
  stage.runs[0]?.succeed();
  await stage.clock.advance(900);
  isSlow = true;
  const answered = stage.command('issue_hold', { issue: '1' });
  await stage.clock.advance(500);
  slow.open();
  await answered;
  await stage.clock.advance(5_000);
  expect(stage.started()).toEqual(['1']);
  expect(stage.orchestrator.read()).toMatchObject({ running: [], retrying: [], held: [{ issue: { id: '1' } }] });
});

it('with several projects, a refused start is not tried again at once', async () => {
  const pool = createSlotPool(() => 1);
  let tries = 0;
  let isFull = true;
  const stage = await scene({
    settings: settings({ intervalMs: 60_000 }),
    issues: [issue({ id: '1' }), issue({ id: '2' })],
    pool: pool.join({ wake: () => stage.orchestrator.fillSlots() }),
    through: (store) =>
      storeThrough(store, {
        before: (call) => {
          if (!isFull || call !== 'transaction') return;
          tries += 1;
          if (tries < 500) throw new BatonError('store_full', 'no space left');
        },
      }),
  });
  await stage.orchestrator.start();
  await stage.clock.advance(1_000);
  expect(tries).toBeLessThan(20);
  isFull = false;
  await stage.clock.advance(120_000);
  expect(stage.runs).toHaveLength(1);
});

// @conforms claims.8
it('a stop while a start is being written lets no agent begin', async () => {
  const slow = gate();
  const stage = await scene({
    settings: quick,
    issues: [issue({ id: '1' })],
    through: (store) =>
      storeThrough(store, {
        after: async (call) => {
          if (call === 'transaction') await slow.passed;
        },
      }),
  });
  await stage.orchestrator.start();
  await stage.clock.advance(0);
  const stopping = stage.orchestrator.stop();
  slow.open();
  await stage.clock.advance(6_000);
  await stopping;
  expect(stage.runs).toEqual([]);
});

// @conforms claims.10
it('the cleanup at a start keeps the workspace of an issue that was reopened meanwhile', async () => {
  const slow = gate();
  const stage = await scene({
    settings: settings({ intervalMs: 60_000, agent: { maxConcurrentAgents: 1 } }),
    issues: [issue({ id: '1', state: 'Done' }), issue({ id: '2', state: 'Done' }), issue({ id: '3' })],
  });
  for (const key of ['T-1', 'T-2'])
    stage.workspaces.entries.push({ key, path: `/workspaces/${key}`, state: 'whole', bytes: null, changedAt: 0 });
  stage.workspaces.answers.wait = slow.passed;
  await stage.orchestrator.start();
  await stage.clock.advance(1_500);
  await stage.tracker.changes.moveIssue('2', 'Todo', person);
  slow.open();
  await stage.clock.advance(1_000);
  expect(stage.workspaces.removed).toEqual(['/workspaces/T-1']);
});

it('ten thousand candidates in two polls do not stop the daemon', async () => {
  const stage = await scene({
    settings: settings({ intervalMs: 3_600_000, agent: { maxConcurrentAgents: 1 } }),
    issues: Array.from({ length: 10_000 }, (_, at) => issue({ id: `i${at}` })),
  });
  await stage.orchestrator.start();
  await stage.clock.advance(0);
  const before = performance.now();
  stage.orchestrator.refresh();
  await stage.clock.advance(0);
  // A few hundredths of a second; walking through all records for each of them would take far longer.
  expect(performance.now() - before).toBeLessThan(10_000);
});

describe('on a shared store', () => {
  it('a command about an issue that another daemon has just taken waits for that daemon', async () => {
    const seldom = settings({ intervalMs: 3_600_000 });
    const one = await begun({ isShared: true, owner: 'one', settings: seldom, issues: [] });
    const other = await besides(one, { settings: seldom });
    await other.orchestrator.start();
    await other.clock.advance(0);
    one.tracker.put(issue({ id: '7' }));
    other.orchestrator.refresh();
    await other.clock.advance(1_000);
    expect(other.started()).toEqual(['7']);
    expect(await one.command('issue_stop', { issue: '7' })).toBeNull();
    other.orchestrator.wake();
    await other.clock.advance(0);
    expect(other.runs[0]?.stops).toEqual(['stopped_by_person']);
  });
});
