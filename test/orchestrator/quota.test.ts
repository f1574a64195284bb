import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/clock/clock.ts';
import type { AgentSettings } from '../../src/core/settings.ts';
import type { Store } from '../../src/store/store.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { storeThrough } from './faulty-store.ts';
import { begun, besides, type SceneOptions, type StagedRun, scene } from './scene.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const twoAccounts: AgentSettings['accounts'] = ['first', 'second'].map((name) => ({
  name,
  backend: 'rehearsal',
  env: {},
  home: null,
}));

function options(agent: Partial<AgentSettings> = {}) {
  return {
    issues: [issue({ id: '1' }), issue({ id: '2' })],
    settings: settings({ intervalMs: 30_000, agent: { maxConcurrentAgents: 1, ...agent } }),
  };
}

describe('an account without quota', () => {
  // @conforms tick.20
  it('is parked: no attempt is used, no slot is taken, and nothing starts on it until its time', async () => {
    const stage = await begun(options());
    const resetsAt = stage.clock.now() + hourMs;
    stage.runs[0]?.fail('agent_quota_exhausted', { resets_at: resetsAt });
    await stage.clock.advance(30 * minuteMs);
    expect(stage.orchestrator.read()).toMatchObject({
      running: [],
      retrying: [],
      waitingQuota: [{ issue: { id: '1' }, attempt: null }],
      skipped: [{ issue: { id: '2' }, reason: { code: 'waiting_quota' } }],
      accounts: [{ name: 'rehearsal', parked: { why: 'quota' }, waitsFor: expect.stringContaining('rehearsal') }],
    });
    expect(stage.runs).toHaveLength(1);
    await stage.clock.advance(45 * minuteMs);
    expect(stage.runs.length).toBeGreaterThan(1);
    expect(stage.runs[1]?.request.attempt).toBeNull();
  });

  // @conforms runs.29
  it('is parked over a restart too', async () => {
    const stage = await begun(options());
    stage.runs[0]?.fail('agent_quota_exhausted', { resets_at: stage.clock.now() + hourMs });
    await stage.clock.advance(0);
    stage.kill();
    const next = await scene({ ...options(), store: stage.store, clock: stage.clock, tracker: stage.tracker });
    await next.orchestrator.start();
    await next.clock.advance(10 * minuteMs);
    expect(next.runs).toEqual([]);
    expect(next.orchestrator.read().waitingQuota).toMatchObject([{ issue: { id: '1' } }]);
    await next.clock.advance(hourMs);
    expect(next.runs.length).toBeGreaterThan(0);
  });

  // @conforms runs.28
  it('leaves the work to another account of the backend at once', async () => {
    const stage = await begun(options({ accounts: twoAccounts }));
    expect(stage.runs[0]?.request.account.name).toBe('first');
    stage.runs[0]?.fail('agent_quota_exhausted', { resets_at: stage.clock.now() + hourMs });
    await stage.clock.advance(10_000);
    expect(stage.runs[1]?.request.account.name).toBe('second');
    expect(stage.orchestrator.read().accounts).toMatchObject([
      { name: 'first', parked: { why: 'quota' } },
      { name: 'second', parked: null },
    ]);
  });

  it('waits longer each time without an announced time, and starts again after a good run', async () => {
    const stage = await begun({ ...options(), issues: [issue({ id: '1' })] });
    const waits: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      const before = stage.clock.now();
      stage.runs.at(-1)?.fail('agent_quota_exhausted');
      const started = stage.runs.length;
      while (stage.runs.length === started && stage.clock.now() - before < 2 * hourMs)
        await stage.clock.advance(10_000);
      waits.push(stage.clock.now() - before);
    }
    expect(waits[1]).toBeGreaterThan((waits[0] ?? 0) * 1.5);
    expect(waits[2]).toBeGreaterThan((waits[1] ?? 0) * 1.5);
    stage.runs.at(-1)?.succeed();
    await stage.clock.advance(5_000);
    expect(stage.orchestrator.read().accounts).toMatchObject([{ parked: null, parks: 0 }]);
  });

  it('starts nothing new when a known window is nearly used up, and continues in the next window', async () => {
    const stage = await begun(options({ maxConcurrentAgents: 5 }));
    const resetsAt = stage.clock.now() + hourMs;
    const quota = [{ name: 'primary', usedPercent: 97, windowMinutes: 300, resetsAt }];
    stage.runs[0]?.request.report({
      kind: 'event',
      event: { name: 'notification', at: 0, pid: 1, summary: '', quota },
    });
    stage.runs[0]?.succeed();
    stage.runs[1]?.succeed();
    await stage.clock.advance(10 * minuteMs);
    expect(stage.runs).toHaveLength(2);
    expect(stage.orchestrator.read().waitingQuota).toHaveLength(2);
    await stage.clock.advance(hourMs);
    expect(stage.runs.length).toBeGreaterThan(2);
  });
});

describe('a run that its account refused, on a slow store', () => {
  it('has ended when it was refused, and its wait begins then', async () => {
    const clock = new SimulatedClock();
    const slow = { ms: 0 };
    const before = (call: string) => (call === 'transaction' ? sleep(clock, slow.ms) : undefined);
    const through = (store: Store) => storeThrough(store, { before });
    const stage = await begun({ ...options(), clock, through });
    const refusedAt = clock.now();
    slow.ms = 5_000;
    stage.runs[0]?.fail('agent_quota_exhausted');
    await clock.advance(30_000);
    const [run] = await stage.store.runs.list(stage.project, { limit: 1 });
    expect(run?.finish?.endedAt).toBe(refusedAt);
    expect(await stage.store.accounts.list()).toMatchObject([{ parked: { since: refusedAt } }]);
  });
});

describe('an account without quota and people', () => {
  it('is tried again when a person asks for it', async () => {
    const stage = await begun({ ...options(), issues: [issue({ id: '1' })] });
    stage.runs[0]?.fail('agent_quota_exhausted', { resets_at: stage.clock.now() + 5 * 24 * hourMs });
    await stage.clock.advance(minuteMs);
    expect(stage.runs).toHaveLength(1);
    expect(await stage.command('issue_retry', { issue: '1' })).toMatchObject({ status: 'done' });
    await stage.clock.advance(1_000);
    expect(stage.runs).toHaveLength(2);
  });

  it('uses none of the runs of its issue', async () => {
    const stage = await begun({ ...options(), issues: [issue({ id: '1' })] });
    stage.runs[0]?.fail('agent_quota_exhausted', { resets_at: stage.clock.now() + minuteMs });
    await stage.clock.advance(0);
    expect(await stage.store.counters.read({ project: stage.project, issueId: '1' })).toMatchObject({ runs: 0 });
  });
});

describe('an account without a login', () => {
  // @conforms runs.30
  it('holds its issue with the reason, and keeps the others from failing', async () => {
    const stage = await begun(options());
    stage.runs[0]?.fail('agent_auth_failed');
    await stage.clock.advance(minuteMs);
    expect(stage.orchestrator.read()).toMatchObject({
      held: [{ issue: { id: '1' }, code: 'agent_auth_failed' }],
      skipped: [{ issue: { id: '2' }, reason: { code: 'waiting_quota' } }],
    });
    expect(stage.runs).toHaveLength(1);
    expect(await stage.command('issue_retry', { issue: '1' })).toMatchObject({ status: 'done' });
    await stage.clock.advance(200);
    expect(stage.runs).toHaveLength(2);
  });
});

describe('an account without a login and a long queue', () => {
  const queue = Array.from({ length: 30 }, (_, at) => issue({ id: String(at + 1) }));
  const many = { issues: queue, settings: settings({ intervalMs: 30_000, agent: { maxConcurrentAgents: 5 } }) };
  /** Five are under way and find nobody logged in; then every run that starts, until `isMended`. */
  async function loggedOut(options: Partial<SceneOptions> = {}) {
    const { seen, play: failing } = play();
    seen.isMended = true;
    const stage = await scene({ ...many, ...options, play: failing });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    expect(stage.runs).toHaveLength(5);
    seen.isMended = false;
    for (const run of stage.runs) run.fail('agent_auth_failed');
    await stage.clock.advance(minuteMs);
    return { stage, seen };
  }

  function play() {
    const seen = { isMended: false, atOnce: 0, most: 0, tries: 0 };
    return {
      seen,
      play: (run: StagedRun) => {
        if (seen.isMended) return;
        seen.tries += 1;
        seen.atOnce += 1;
        seen.most = Math.max(seen.most, seen.atOnce);
        void Promise.resolve().then(() => {
          seen.atOnce -= 1;
          run.fail('agent_auth_failed');
        });
      },
    };
  }

  // @conforms runs.51
  it('holds one issue, however many runs were in progress, and no more later', async () => {
    const { stage, seen } = await loggedOut();
    const model = stage.orchestrator.read();
    expect(stage.runs).toHaveLength(5);
    expect(model.held).toMatchObject([{ code: 'agent_auth_failed' }]);
    expect(model.held).toHaveLength(1);
    expect(model.waitingQuota).toHaveLength(4);
    expect(new Set(model.skipped.map(({ reason }) => reason.code))).toEqual(new Set(['waiting_quota']));
    await stage.clock.advance(80 * minuteMs);
    // After 5, 15, 35 and 75 minutes, and a little more by chance.
    expect(seen.tries).toBeGreaterThan(2);
    expect(seen.tries).toBeLessThan(5);
    expect(seen.most).toBe(1);
    expect(stage.orchestrator.read().held).toHaveLength(1);
  });

  it('uses none of the runs of the waiting issues', async () => {
    const { stage } = await loggedOut();
    const [held] = stage.orchestrator.read().held;
    for (const { request } of stage.runs) {
      const counted = await stage.store.counters.read({ project: stage.project, issueId: request.issue.id });
      expect(counted.runs).toBe(request.issue.id === held?.issue.id ? 1 : 0);
    }
  });

  // @conforms runs.53
  it('is tried at once by one run when a person asks, and all continue after a successful turn', async () => {
    const { stage, seen } = await loggedOut();
    const held = stage.orchestrator.read().held[0]?.issue.identifier ?? '';
    seen.isMended = true;
    const before = stage.runs.length;
    expect(await stage.command('issue_retry', { issue: held })).toMatchObject({ status: 'done' });
    await stage.clock.advance(minuteMs);
    expect(stage.runs).toHaveLength(before + 1);
    const { skipped, accounts } = stage.orchestrator.read();
    expect(skipped[0]?.reason.code).toBe('waiting_quota');
    expect(accounts).toMatchObject([{ parked: { probe: { by: stage.runs.at(-1)?.request.runId } } }]);
    stage.runs.at(-1)?.request.report({ kind: 'event', event: { name: 'turn_completed', at: 0, pid: 1, summary: '' } });
    await stage.clock.advance(2_000);
    expect(stage.runs).toHaveLength(before + 5);
    expect(stage.orchestrator.read().accounts).toMatchObject([{ parked: null, parks: 0 }]);
  });

  it.each([
    ['issue_retry', 'an issue that never started'],
    ['issue_release', 'the one that is held'],
  ])('is tried at once by %s of %s', async (kind) => {
    const { stage, seen } = await loggedOut();
    seen.isMended = true;
    const before = stage.runs.length;
    const held = stage.orchestrator.read().held[0]?.issue.id ?? '';
    expect(await stage.command(kind, { issue: kind === 'issue_retry' ? '30' : held })).toMatchObject({
      status: 'done',
    });
    await stage.clock.advance(1_000);
    expect(stage.runs).toHaveLength(before + 1);
  });

  it('holds the issue again that a person continues too early', async () => {
    const { stage } = await loggedOut();
    await stage.command('issue_retry', { issue: stage.orchestrator.read().held[0]?.issue.id });
    await stage.clock.advance(minuteMs);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'agent_auth_failed' }]);
  });

  // @conforms runs.54
  it('does not stay blocked because a daemon died while it tried the account', async () => {
    const { stage, seen } = await loggedOut();
    seen.isMended = true;
    await stage.command('issue_retry', { issue: stage.orchestrator.read().held[0]?.issue.id });
    await stage.clock.advance(1_000);
    const tried = stage.runs.at(-1)?.request.runId;
    expect((await stage.store.accounts.list())[0]?.parked?.probe?.by).toBe(tried);
    stage.kill();
    const next = await scene({ ...many, store: stage.store, clock: stage.clock, tracker: stage.tracker });
    await next.orchestrator.start();
    await next.clock.advance(5_000);
    expect(next.runs).toHaveLength(1);
  });

  // @conforms runs.52
  it('is tried by one run of two daemons', async () => {
    const { stage: one, seen } = await loggedOut({ owner: 'one', isShared: true });
    const other = await besides(one, many);
    await other.orchestrator.start();
    await one.clock.advance(minuteMs);
    seen.isMended = true;
    const before = one.runs.length + other.runs.length;
    await one.clock.advance(10 * minuteMs);
    expect(one.runs.length + other.runs.length).toBe(before + 1);
  });
});

describe('an account without an announced time and a long queue', () => {
  // @conforms runs.52
  it('is tried by one run at a time until a turn succeeds', async () => {
    const issues = Array.from({ length: 8 }, (_, at) => issue({ id: String(at + 1) }));
    const stage = await begun({
      issues,
      settings: settings({ intervalMs: 30_000, agent: { maxConcurrentAgents: 4 } }),
    });
    for (const run of stage.runs) run.fail('agent_quota_exhausted');
    await stage.clock.advance(2 * minuteMs);
    expect(stage.runs).toHaveLength(5);
    await stage.clock.advance(2 * minuteMs);
    expect(stage.runs).toHaveLength(5);
    // It fails for a reason of its own: that says nothing, and another one tries it.
    stage.runs[4]?.fail('agent_exited');
    await stage.clock.advance(6_000);
    expect(stage.runs).toHaveLength(6);
    stage.runs[5]?.succeed();
    await stage.clock.advance(6_000);
    expect(stage.orchestrator.read().running).toHaveLength(4);
  });
});

describe('a run that filled its context', () => {
  // @conforms 4.82
  it('is not repeated unchanged, and counts as a failure', async () => {
    const contextRecovery = { reducedBudgetTokens: 50_000, compact: true, freshStart: true, largerModel: 'huge' };
    const stage = await begun({ ...options({ contextRecovery, maxRetries: 6 }), issues: [issue({ id: '1' })] });
    const seen: unknown[] = [];
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      stage.runs.at(-1)?.request.report({ kind: 'session', threadId: `thread-${attempt}` });
      stage.runs.at(-1)?.fail('agent_context_exhausted', { kind: 'context' });
      await stage.clock.advance(10 * minuteMs);
      const { recovery, threadId } = stage.runs.at(-1)?.request ?? {};
      seen.push([recovery, threadId]);
    }
    expect(seen).toEqual([
      ['reduced_budget', null],
      ['compact', 'thread-2'],
      ['fresh_start', null],
      ['larger_model', null],
      ['larger_model', null],
    ]);
    stage.runs.at(-1)?.fail('agent_context_exhausted', { kind: 'context' });
    await stage.clock.advance(0);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'retries_exhausted' }]);
  });
});
