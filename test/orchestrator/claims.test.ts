import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import { issue } from '../fake/issues.ts';
import { scratchStore } from '../fake/scratch-store.ts';
import { settings } from '../fake/settings.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { telling } from '../telling.ts';
import { storeThrough } from './faulty-store.ts';
import { begun, besides, pair, type Scene, scene } from './scene.ts';
import { seededClaims } from './seeded-claims.ts';

const leaseMs = 30_000;
const quick = settings({ intervalMs: 1_000 });
const person = { kind: 'person', name: 'me' } as const;
const claimOf = ({ store, project }: Pick<Scene, 'store' | 'project'>, issueId: string) =>
  store.claims.read({ project, issueId });

describe('a claim', () => {
  // @conforms claims.1
  it('is in the store before the runner starts, and is released at the end', async () => {
    let atStart: ReturnType<typeof claimOf> = Promise.resolve(null);
    const stage: Scene = await scene({
      issues: [issue({ id: '1' })],
      play: () => {
        // Asked before anything else that may still be on its way to the store.
        atStart = claimOf(stage, '1');
      },
    });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    expect(await atStart).toMatchObject({ owner: 'this-daemon', host: 'here', slotState: 'Todo', generation: 1 });
    await stage.tracker.changes.moveIssue('1', 'Done', person);
    stage.runs[0]?.succeed();
    await stage.clock.advance(2_000);
    expect(await claimOf(stage, '1')).toBeNull();
  });

  it('is not taken for a hold while that of a dead daemon is not inherited', async () => {
    const clock = new SimulatedClock();
    const store = await scratchStore(clock);
    const { claims } = seededClaims({ store, clock, project: 'p' });
    const left = { project: 'p', issueId: '1', identifier: 'T-1', since: 0, runId: 'r1' };
    await store.held.put({ ...left, code: 'agent_survives', reason: 'it may be alive' });
    const takeover = { issue: { id: '1', identifier: 'T-1' }, code: 'taken_over', reason: 'by hand', since: 0 };
    await expect(claims.hold({ ...takeover, runId: null })).rejects.toMatchObject({ code: 'claim_lost' });
    expect(await store.held.list('p')).toMatchObject([{ code: 'agent_survives' }]);
    expect(await claimOf({ store, project: 'p' }, '1')).toBeNull();
  });

  it('is kept by a retry, without a slot, and its generation grows with each claim', async () => {
    const stage = await begun();
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    expect(await claimOf(stage, '1')).toMatchObject({ owner: 'this-daemon', slotState: null, generation: 1 });
    await stage.clock.advance(11_100);
    expect(await claimOf(stage, '1')).toMatchObject({ slotState: 'Todo', generation: 1 });
    await stage.tracker.changes.moveIssue('1', 'Backlog', person);
    await stage.clock.advance(200);
    stage.runs[1]?.end();
    await stage.clock.advance(200);
    await stage.tracker.changes.moveIssue('1', 'Todo', person);
    await stage.clock.advance(200);
    expect(await claimOf(stage, '1')).toMatchObject({ generation: 2 });
  });

  it('of a running issue follows its state', async () => {
    const stage = await begun();
    await stage.tracker.changes.moveIssue('1', 'In Progress', person);
    await stage.clock.advance(200);
    expect(await claimOf(stage, '1')).toMatchObject({ slotState: 'In Progress' });
  });
});

describe('two daemons on one store', () => {
  const both = async (options: Parameters<typeof pair>[0] = {}): Promise<readonly [Scene, Scene]> => {
    const daemons = await pair({ settings: quick, ...options });
    for (const { orchestrator } of daemons) await orchestrator.start();
    await daemons[0].clock.advance(0);
    return daemons;
  };

  // @conforms claims.2
  it('never both start an issue, and report which daemon has it', async () => {
    const [one, other] = await both({ issues: Array.from({ length: 8 }, (_, index) => issue({ id: `${index}` })) });
    await one.clock.advance(10_000);
    const all = [...one.started(), ...other.started()];
    expect([all.length, new Set(all).size]).toEqual([8, 8]);
    const reasons = [...one.orchestrator.read().skipped, ...other.orchestrator.read().skipped].map(
      ({ reason }) => reason,
    );
    expect(reasons).toEqual(reasons.map(() => ({ code: 'claimed_elsewhere', text: telling('(here)') })));
  });

  // @conforms claims.3
  it('share the global slots', async () => {
    const [one, other] = await both({
      issues: Array.from({ length: 9 }, (_, index) => issue({ id: `${index}` })),
      settings: settings({ intervalMs: 1_000, agent: { maxConcurrentAgents: 3 } }),
    });
    await one.clock.advance(10_000);
    expect(one.runs.length + other.runs.length).toBe(3);
  });

  // @conforms claims.3
  it('share the slots by state', async () => {
    const [one, other] = await both({
      issues: [...['1', '2', '3'].map((id) => issue({ id })), issue({ id: '4', state: 'In Progress' })],
      settings: settings({ intervalMs: 1_000, agent: { maxConcurrentAgentsByState: { todo: 1 } } }),
    });
    await one.clock.advance(10_000);
    const states = [...one.runs, ...other.runs].map(({ request }) => request.issue.state);
    expect(states.toSorted()).toEqual(['In Progress', 'Todo']);
  });

  it('lose the issues of a killed daemon exactly when its lease ends, and nothing is counted', async () => {
    const one = await begun({ isShared: true, owner: 'one', settings: quick });
    one.runs[0]?.request.report({ kind: 'session', threadId: 'thread-1' });
    await one.clock.advance(1_000);
    one.kill();
    const other = await besides(one, { settings: quick });
    await other.orchestrator.start();
    await other.clock.advance(leaseMs - 2_000);
    expect(other.started()).toEqual([]);
    await other.clock.advance(5_000);
    expect(other.runs[0]?.request).toMatchObject({ attempt: null, retryKind: 'interrupted', threadId: 'thread-1' });
    expect(other.swept).toEqual([one.runs[0]?.request.runId]);
    expect(await claimOf(one, '1')).toMatchObject({ owner: 'other', generation: 2 });
    const counters = await one.store.counters.read({ project: one.project, issueId: '1' });
    expect(counters.failures ?? 0).toBe(0);
  });

  it('keep the claims of long runs for many leases', async () => {
    const [one, other] = await both({
      issues: [issue({ id: '1' })],
      settings: settings({ intervalMs: 5_000, agent: { stallTimeoutMs: 0 } }),
    });
    await one.clock.advance(20 * leaseMs);
    expect(one.runs.length + other.runs.length).toBe(1);
    expect([...one.runs, ...other.runs][0]?.stops).toEqual([]);
  });

  /** The first daemon, which loses its store and finds it again, and a second one beside it. */
  const cutOff = async () => {
    const line = { isCut: false };
    const one = await begun({
      isShared: true,
      owner: 'one',
      settings: quick,
      through: (store) =>
        storeThrough(store, {
          before: () => {
            if (line.isCut) throw new BatonError('store_unavailable', 'the line is cut');
          },
        }),
    });
    return { one, line };
  };

  // @conforms claims.4
  it('end agents at two thirds of the lease without renewal, and continue when the store is back', async () => {
    const { one, line } = await cutOff();
    line.isCut = true;
    await one.clock.advance(19_999);
    expect(one.endedAtOnce).toEqual([]);
    await one.clock.advance(1);
    expect(one.endedAtOnce).toEqual([one.runs[0]?.request.runId]);
    expect(one.runs[0]?.stops).toEqual(['claim_lost']);
    one.runs[0]?.end();
    await one.clock.advance(60_000);
    expect(one.runs).toHaveLength(1);
    line.isCut = false;
    await one.clock.advance(60_000);
    expect(one.runs[1]?.request).toMatchObject({ attempt: null, retryKind: 'interrupted' });
    const [first] = (await one.store.runs.list(one.project, { limit: 5 })).toReversed();
    expect(first?.finish?.outcome).toBe('interrupted');
  });

  it('end agents just as soon when the store does not answer at all, and still report their status', async () => {
    let isSilent = false;
    const one = await begun({
      isShared: true,
      owner: 'one',
      settings: quick,
      through: (store) => storeThrough(store, { before: () => (isSilent ? new Promise(() => {}) : undefined) }),
    });
    isSilent = true;
    await one.clock.advance(20_000);
    expect(one.endedAtOnce).toEqual([one.runs[0]?.request.runId]);
    expect(one.orchestrator.read().running).toHaveLength(1);
  });

  // @conforms claims.5
  it('end a run whose claim another daemon took; nothing of it is written, and nothing runs twice', async () => {
    const { one, line } = await cutOff();
    const other = await besides(one, { settings: quick });
    await other.orchestrator.start();
    line.isCut = true;
    await one.clock.advance(leaseMs + 5_000);
    expect(other.started()).toEqual(['1']);
    const lost = one.runs[0] ?? expect.fail('no run');
    lost.request.report({ kind: 'session', threadId: 'too late' });
    line.isCut = false;
    lost.end();
    await one.clock.advance(leaseMs);
    expect(one.started()).toEqual(['1']);
    expect(one.orchestrator.read()).toMatchObject({ running: [], retrying: [], held: [] });
    expect(await one.store.runs.read(lost.request.runId)).toMatchObject({
      threadId: null,
      finish: { outcome: 'interrupted', errorCode: 'orchestrator_restarted' },
    });
    expect(other.runs[0]?.stops).toEqual([]);
    expect(await claimOf(one, '1')).toMatchObject({ owner: 'other' });
  });

  it('forget a hold and a retry that another daemon took', async () => {
    const { one, line } = await cutOff();
    one.tracker.put(issue({ id: '2' }));
    await one.clock.advance(1_200);
    one.runs[0]?.fail('agent_input_required');
    one.runs[1]?.fail();
    await one.clock.advance(0);
    const other = await besides(one, { settings: quick });
    await other.orchestrator.start();
    line.isCut = true;
    await one.clock.advance(leaseMs + 5_000);
    line.isCut = false;
    await one.clock.advance(leaseMs);
    expect(one.orchestrator.read()).toMatchObject({ running: [], retrying: [], held: [] });
    expect(other.orchestrator.read().held).toMatchObject([{ issue: { id: '1' } }]);
    expect([one.runs.length, other.started()]).toEqual([2, ['2']]);
  });

  // @conforms claims.11
  it('pass everything on at an orderly stop: due times, reasons and running issues', async () => {
    const one = await begun({
      isShared: true,
      owner: 'one',
      issues: ['1', '2', '3'].map((id) => issue({ id })),
      settings: quick,
    });
    one.runs[0]?.fail();
    one.runs[1]?.fail('agent_input_required');
    await one.clock.advance(0);
    const dueAt = one.orchestrator.read().retrying[0]?.dueAt;
    const other = await besides(one, { settings: quick });
    await other.orchestrator.start();
    await other.clock.advance(1_000);
    expect(other.orchestrator.read()).toMatchObject({ running: [], retrying: [], held: [] });
    const stopping = one.orchestrator.stop();
    await one.clock.advance(0);
    one.runs[2]?.end();
    await one.clock.advance(0);
    await stopping;
    await other.clock.advance(1_000);
    expect(other.orchestrator.read()).toMatchObject({
      running: [{ issue: { id: '3' } }],
      retrying: [{ issue: { id: '1' }, dueAt, attempt: 1, kind: 'failure' }],
      held: [{ issue: { id: '2' }, code: 'agent_input_required' }],
    });
    expect(other.runs[0]?.request.retryKind).toBe('interrupted');
    await other.clock.advance((dueAt ?? 0) - other.clock.now());
    expect(other.started()).toEqual(['3', '1']);
  });

  // @conforms claims.12
  it('carry out a command on the daemon that has the issue, whichever got it', async () => {
    const one = await begun({
      isShared: true,
      owner: 'one',
      issues: ['1', '2'].map((id) => issue({ id })),
      settings: quick,
    });
    one.runs[1]?.fail('agent_input_required');
    await one.clock.advance(0);
    const other = await besides(one, { settings: quick });
    await other.orchestrator.start();
    await other.clock.advance(1_000);
    expect(await other.command('issue_stop', { issue: '1' })).toBeNull();
    expect(await other.command('issue_release', { issue: '2' })).toBeNull();
    await one.clock.advance(2_000);
    expect(one.runs[0]?.stops).toEqual(['stopped_by_person']);
    expect((await one.store.commands.list(one.project, 5)).map(({ result }) => result?.status)).toEqual([
      'done',
      'done',
    ]);
    expect([...one.started(), ...other.started()].filter((id) => id === '2')).toHaveLength(2);
  });

  it('keep a command for a dead daemon waiting until its issue is inherited', async () => {
    const one = await begun({ isShared: true, owner: 'one', settings: quick });
    one.kill();
    const other = await besides(one, { settings: quick });
    await other.orchestrator.start();
    await other.clock.advance(1_000);
    expect(await other.command('issue_hold', { issue: '1' })).toBeNull();
    expect(await other.command('pause')).toMatchObject({ status: 'done' });
    await other.clock.advance(leaseMs + 5_000);
    expect(await other.store.commands.waiting(other.project, 5)).toEqual([]);
    expect(other.orchestrator.read().held).toMatchObject([{ issue: { id: '1' } }]);
    expect(other.started()).toEqual([]);
  });

  it('keep the issues of a daemon whose ticks are rarer than its lease', async () => {
    const one = await begun({ isShared: true, owner: 'one', issues: [], settings: quick });
    const other = await besides(one, {
      settings: settings({ intervalMs: 3_600_000, agent: { maxConcurrentAgents: 1 } }),
    });
    for (const id of ['1', '2']) one.tracker.put(issue({ id }));
    await other.orchestrator.start();
    await other.clock.advance(0);
    await one.clock.advance(1_200);
    expect([other.started(), one.started()]).toEqual([['1'], ['2']]);
    one.kill();
    await other.clock.advance(leaseMs + 10_000);
    // Its agent may still be alive on this machine: it is ended before another one starts.
    other.runs[0]?.fail('agent_input_required');
    await other.clock.advance(5_000);
    expect(other.swept).toEqual([one.runs[0]?.request.runId]);
    expect(other.runs[1]?.request).toMatchObject({ issue: { id: '2' }, retryKind: 'interrupted' });
    expect(await other.store.runs.unfinished(other.project)).toHaveLength(1);
  });
});
