import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { storeThrough } from './faulty-store.ts';
import { begun, gate, type Scene, scene } from './scene.ts';

const quick = settings({ intervalMs: 100 });
const person = { kind: 'person', name: 'me' } as const;

/** Where an issue is, in memory and in the store. */
async function whereIs({ orchestrator, store, project }: Scene, id: string) {
  const { running, retrying, held } = orchestrator.read();
  const has = (entries: readonly { issue: { id: string } }[]): boolean =>
    entries.some(({ issue: { id: its } }) => its === id);
  const places = { running: has(running), retrying: has(retrying), held: has(held) };
  const rows = {
    hold: (await store.held.list(project)).some(({ issueId }) => issueId === id),
    retry: (await store.retries.list(project)).some(({ issueId }) => issueId === id),
    claim: (await store.claims.read({ project, issueId: id })) !== null,
  };
  return { places: Object.entries(places).flatMap(([name, is]) => (is ? [name] : [])), rows };
}

describe('a hold that is being written', () => {
  it.each(['before', 'after'] as const)('keeps its issue from starting, %s it is in the store', async (when) => {
    const slow = gate();
    let isSlow = false;
    const late = async (call: string): Promise<void> => {
      if (call !== 'transaction' || !isSlow) return;
      isSlow = false;
      await slow.passed;
    };
    const stage = await begun({ issues: [], through: (store) => storeThrough(store, { [when]: late }) });
    stage.tracker.put(issue({ id: '7' }));
    isSlow = true;
    const answered = stage.command('issue_hold', { issue: '7' });
    await stage.clock.advance(500);
    slow.open();
    await answered;
    await stage.clock.advance(1_000);
    expect(stage.started()).toEqual([]);
    expect(await whereIs(stage, '7')).toEqual({ places: ['held'], rows: { hold: true, retry: false, claim: true } });
    expect(await stage.command('issue_release', { issue: '7' })).toMatchObject({ status: 'done' });
    await stage.clock.advance(0);
    expect(stage.started()).toEqual(['7']);
  });

  it('that cannot be written leaves the retry unchanged', async () => {
    let isFull = false;
    const stage = await begun({
      through: (store) =>
        storeThrough(store, {
          before: (call) => {
            if (call === 'in held.put' && isFull) throw new BatonError('store_full', 'no space left');
          },
        }),
    });
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    isFull = true;
    await stage.command('issue_hold', { issue: '1' });
    expect((await whereIs(stage, '1')).places).toEqual(['retrying']);
    await stage.clock.advance(11_100);
    expect(stage.runs[1]?.request).toMatchObject({ attempt: 1, retryKind: 'failure' });
  });
});

describe('a command while the end of a run is being written', () => {
  const settling = async () => {
    const slow = gate();
    let isSlow = false;
    const stage = await begun({
      through: (store) =>
        storeThrough(store, {
          before: async (call) => {
            if (call !== 'transaction' || !isSlow) return;
            isSlow = false;
            await slow.passed;
          },
        }),
    });
    const settle = async (end: 'succeed' | 'fail'): Promise<void> => {
      isSlow = true;
      stage.runs[0]?.[end]();
      await stage.clock.advance(0);
    };
    return { stage, slow, settle };
  };

  const lastAnswer = async ({ store, project }: Scene) => (await store.commands.list(project, 1))[0]?.result;

  it('to hold cancels the scheduled retry', async () => {
    const { stage, slow, settle } = await settling();
    await settle('fail');
    await stage.command('issue_hold', { issue: '1' });
    slow.open();
    await stage.clock.advance(60_000);
    expect(stage.started()).toEqual(['1']);
    expect(await whereIs(stage, '1')).toEqual({ places: ['held'], rows: { hold: true, retry: false, claim: true } });
  });

  it('to release lifts the hold of the end, in memory and in the store', async () => {
    const { stage, slow, settle } = await settling();
    await stage.command('issue_hold', { issue: '1' });
    await settle('succeed');
    // It waits until the end is written.
    expect(await stage.command('issue_release', { issue: '1' })).toBeNull();
    slow.open();
    await stage.clock.advance(2_000);
    expect(await lastAnswer(stage)).toMatchObject({ status: 'done' });
    expect(stage.started()).toEqual(['1', '1']);
    expect(await stage.store.held.list(stage.project)).toEqual([]);
  });

  it('to stop holds the issue afterwards', async () => {
    const { stage, slow, settle } = await settling();
    await settle('succeed');
    expect(await stage.command('issue_stop', { issue: '1' })).toBeNull();
    slow.open();
    await stage.clock.advance(5_000);
    expect(await lastAnswer(stage)).toMatchObject({ status: 'done' });
    expect(stage.started()).toEqual(['1']);
    expect(await whereIs(stage, '1')).toEqual({ places: ['held'], rows: { hold: true, retry: false, claim: true } });
  });

  it('to retry is refused, because the issue is still running', async () => {
    const { stage, slow, settle } = await settling();
    await settle('fail');
    expect(await stage.command('issue_retry', { issue: '1' })).toMatchObject({
      status: 'refused',
      code: 'already_running',
    });
    slow.open();
  });
});

describe('an issue that is being inherited', () => {
  /** A daemon that finds the run of an earlier life at its third second, with processes that take long to end. */
  const adopting = async (left = 0) => {
    const slow = gate();
    const stage = await begun({
      issues: [],
      processes: {
        endRun: async () => {
          await slow.passed;
          return { ended: 1, left };
        },
      },
    });
    stage.tracker.put(issue({ id: '9' }));
    await stage.command('pause');
    await orphan(stage, '9');
    await stage.command('resume');
    await stage.clock.advance(6_000);
    return { stage, slow };
  };

  it('is not started, and a command about it waits', async () => {
    const { stage, slow } = await adopting();
    expect(stage.started()).toEqual([]);
    expect(await stage.command('issue_hold', { issue: '9' })).toBeNull();
    slow.open();
    await stage.clock.advance(5_000);
    const where = await whereIs(stage, '9');
    expect(where.places).toHaveLength(1);
    expect(await stage.store.commands.waiting(stage.project, 10)).toEqual([]);
    if (where.places[0] === 'running') stage.runs.at(-1)?.fail();
    await stage.clock.advance(30_000);
    expect(await whereIs(stage, '9')).toEqual({ places: ['held'], rows: { hold: true, retry: false, claim: true } });
  });

  it('with a surviving agent is never free, whatever the store does', async () => {
    let isBroken = true;
    const first = await begun();
    first.kill();
    const stage = await scene({
      settings: quick,
      store: first.store,
      issues: [issue({ id: '1' })],
      processesLeft: 1,
      through: (store) =>
        storeThrough(store, {
          before: (call) => {
            if (isBroken && call === 'in held.put') throw new BatonError('store_full', 'no space left');
          },
        }),
    });
    await stage.orchestrator.start();
    await stage.clock.advance(20_000);
    expect(stage.started()).toEqual([]);
    isBroken = false;
    await stage.clock.advance(20_000);
    expect(stage.started()).toEqual([]);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'agent_survives' }]);
    expect(await stage.store.runs.unfinished(stage.project)).toEqual([]);
  });

  it.each([0, 1, 2])('with a surviving agent is not started while transaction %i waits', async (free) => {
    const slow = gate();
    let transactions = 0;
    const first = await begun();
    first.kill();
    const stage = await scene({
      settings: quick,
      store: first.store,
      issues: [issue({ id: '1' })],
      processesLeft: 1,
      through: (store) =>
        storeThrough(store, {
          before: async (call) => {
            // The first takes the issue over, the second ends its runs, the third holds it.
            if (call === 'transaction') transactions += 1;
            if (call === 'transaction' && transactions > free) await slow.passed;
          },
        }),
    });
    const starting = stage.orchestrator.start();
    await stage.clock.advance(0);
    stage.orchestrator.refresh();
    await stage.clock.advance(1_000);
    slow.open();
    await starting;
    await stage.clock.advance(1_000);
    expect(stage.started()).toEqual([]);
  });

  it('is not started while its run from before a restart could not be ended', async () => {
    let isBroken = true;
    const first = await begun();
    first.kill();
    const stage = await scene({
      settings: quick,
      store: first.store,
      issues: [issue({ id: '1' })],
      processes: {
        endRun: async () => {
          if (isBroken) throw new Error('the process table cannot be read');
          return { ended: 1, left: 0 };
        },
      },
    });
    await stage.orchestrator.start();
    await stage.clock.advance(20_000);
    expect(stage.started()).toEqual([]);
    isBroken = false;
    await stage.clock.advance(6_000);
    expect(stage.runs.map(({ request }) => request.retryKind)).toEqual(['interrupted']);
  });
});

describe('an unfinished startup', () => {
  it('runs no tick and no command before everything is inherited', async () => {
    const slow = gate();
    const first = await begun();
    await first.command('issue_hold', { issue: '1' });
    first.kill();
    const stage = await scene({
      settings: quick,
      store: first.store,
      issues: [issue({ id: '1' }), issue({ id: '2' })],
      processes: {
        endRun: async () => {
          await slow.passed;
          return { ended: 1, left: 0 };
        },
      },
    });
    const starting = stage.orchestrator.start();
    await stage.clock.advance(0);
    const answer = await stage.command('issue_release', { issue: '1' });
    stage.orchestrator.refresh();
    await stage.clock.advance(1_000);
    expect([answer, stage.started(), stage.orchestrator.read().polling.ticks]).toEqual([null, [], 0]);
    slow.open();
    await starting;
    await stage.clock.advance(0);
    expect(await stage.store.commands.waiting(stage.project, 10)).toEqual([]);
    expect(stage.started().toSorted()).toEqual(['1', '2']);
  });
});

describe('no request is forgotten', () => {
  it('a slot that is freed at any point of a dispatch is used at once', async () => {
    let isFull = true;
    const stage = await begun({
      settings: settings({ intervalMs: 3_600_000, agent: { maxConcurrentAgents: 1_000 } }),
      issues: Array.from({ length: 80 }, (_, index) => issue({ id: `i${index}` })),
      pool: {
        mayStart: () => (isFull ? { code: 'global_full', text: 'full' } : null),
        take: () => {
          isFull = true;
        },
        free: () => {},
        giveBack: () => {},
        setWaiting: () => {},
        leave: () => {},
        held: 0,
      },
    });
    expect(stage.runs).toEqual([]);
    for (let moments = 0; moments < 40; moments += 1) {
      stage.orchestrator.fillSlots();
      for (let moment = 0; moment < moments; moment += 1) await Promise.resolve();
      isFull = false;
      stage.orchestrator.fillSlots();
      await stage.clock.advance(0);
      expect([moments, stage.runs.length]).toEqual([moments, moments + 1]);
    }
  });

  it('a command that is written at any point of another is carried out at once', async () => {
    const stage = await begun({ settings: settings({ intervalMs: 3_600_000 }), issues: [] });
    for (let moments = 0; moments < 20; moments += 1) {
      const draft = { project: stage.project, kind: 'nonsense', payload: {}, author: person, at: 0, key: null };
      stage.orchestrator.wake();
      for (let moment = 0; moment < moments; moment += 1) await Promise.resolve();
      await stage.store.commands.submit({ ...draft, id: `c${moments}` });
      stage.orchestrator.wake();
      await stage.clock.advance(0);
      expect([moments, (await stage.store.commands.waiting(stage.project, 10)).length]).toEqual([moments, 0]);
    }
  });

  it('frequent wake-ups during slow tracker answers do not keep work from starting', async () => {
    const stage = await begun({ issues: [], settings: settings({ intervalMs: 30_000 }) });
    const { fetchByStates } = stage.tracker;
    stage.tracker.fetchByStates = async (states, signal) => {
      const answer = await fetchByStates.call(stage.tracker, states, signal);
      const { passed, open } = gate();
      stage.clock.schedule(1_000, open);
      await passed;
      return answer;
    };
    stage.tracker.put(issue({ id: '1' }));
    for (let wakes = 0; wakes < 20; wakes += 1) {
      stage.orchestrator.wake();
      await stage.clock.advance(400);
    }
    expect(stage.started()).toEqual(['1']);
  });
});

/** Writes what a daemon of the same name leaves when it is killed in the middle of a run. */
async function orphan({ store, project, clock }: Scene, issueId: string): Promise<void> {
  const key = { project, issueId };
  const wish = { owner: 'this-daemon', host: 'here', at: clock.now(), leaseMs: 30_000, slotState: 'Todo' };
  const claim = (await store.claims.take(key, wish)) ?? expect.fail('the claim was free');
  await store.runs.start({
    ...key,
    runId: `left-${issueId}`,
    identifier: `T-${issueId}`,
    generation: claim.generation,
    role: 'worker',
    attempt: null,
    retryKind: null,
    backend: 'rehearsal',
    account: null,
    host: 'here',
    startedAt: clock.now(),
  });
}

it('a retry by a person during the scheduled retry is not lost', async () => {
  const stage = await begun({ settings: settings({ intervalMs: 3_600_000 }) });
  stage.runs[0]?.fail();
  const { fetchByIds } = stage.tracker;
  const slow = gate();
  stage.tracker.fetchByIds = async (ids, signal) => {
    await slow.passed;
    return fetchByIds.call(stage.tracker, ids, signal);
  };
  await stage.clock.advance(11_100);
  expect(stage.calls.filter(({ kind }) => kind === 'ids')).toHaveLength(1);
  expect(await stage.command('issue_retry', { issue: '1' })).toMatchObject({ status: 'done' });
  await stage.clock.advance(1_000);
  slow.open();
  await stage.clock.advance(1_000);
  expect(stage.started()).toEqual(['1', '1']);
});
