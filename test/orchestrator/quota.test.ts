import { describe, expect, it } from 'vitest';
import type { AgentSettings } from '../../src/core/settings.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { begun, scene } from './scene.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const twoAccounts: AgentSettings['accounts'] = ['first', 'second'].map((name) => ({
  ...{ name, backend: 'rehearsal', env: {}, home: null },
}));

function options(agent: Partial<AgentSettings> = {}) {
  return {
    issues: [issue({ id: '1' }), issue({ id: '2' })],
    settings: settings({ intervalMs: 30_000, agent: { maxConcurrentAgents: 1, ...agent } }),
  };
}

describe('an account without quota', () => {
  it('is parked: no attempt is spent, no slot is held, nothing starts on it until the time it named', async () => {
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

  it('leaves the work to another account of the backend, at once', async () => {
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

  it('waits longer each time when it does not say until when, and from the start again after a good run', async () => {
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

  it('starts nothing new before a known window is used up, and goes on when it begins anew', async () => {
    const stage = await begun(options({ maxConcurrentAgents: 5 }));
    const resetsAt = stage.clock.now() + hourMs;
    const quota = [{ name: 'primary', usedPercent: 97, windowMinutes: 300, resetsAt }];
    stage.runs[0]?.request.watcher.onEvent({ name: 'notification', at: 0, pid: 1, summary: '', quota });
    stage.runs[0]?.succeed();
    stage.runs[1]?.succeed();
    await stage.clock.advance(10 * minuteMs);
    expect(stage.runs).toHaveLength(2);
    expect(stage.orchestrator.read().waitingQuota).toHaveLength(2);
    await stage.clock.advance(hourMs);
    expect(stage.runs.length).toBeGreaterThan(2);
  });
});

describe('an account without quota, and people', () => {
  it('is tried again when a person asks for it', async () => {
    const stage = await begun({ ...options(), issues: [issue({ id: '1' })] });
    stage.runs[0]?.fail('agent_quota_exhausted', { resets_at: stage.clock.now() + 5 * 24 * hourMs });
    await stage.clock.advance(minuteMs);
    expect(stage.runs).toHaveLength(1);
    expect(await stage.command('issue_retry', { issue: '1' })).toMatchObject({ status: 'done' });
    await stage.clock.advance(1_000);
    expect(stage.runs).toHaveLength(2);
  });

  it('costs its issue none of its runs', async () => {
    const stage = await begun({ ...options(), issues: [issue({ id: '1' })] });
    stage.runs[0]?.fail('agent_quota_exhausted', { resets_at: stage.clock.now() + minuteMs });
    await stage.clock.advance(0);
    expect(await stage.store.counters.read({ project: stage.project, issueId: '1' })).toMatchObject({ runs: 0 });
  });
});

describe('an account that nobody is logged in to', () => {
  it('holds its issue with the reason, and keeps the others from failing the same way', async () => {
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

describe('a run that died of its context', () => {
  it('is not repeated as it was, and counts as a failure', async () => {
    const contextRecovery = { reducedBudgetTokens: 50_000, compact: true, freshStart: true, largerModel: 'huge' };
    const stage = await begun({ ...options({ contextRecovery, maxRetries: 6 }), issues: [issue({ id: '1' })] });
    const seen: unknown[] = [];
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      stage.runs.at(-1)?.request.watcher.onSession(`thread-${attempt}`);
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
