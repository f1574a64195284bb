import { describe, expect, it } from 'vitest';
import { configuration, health, requestReport as requests, salvage } from '../../../src/client/schema/system.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { BatonError } from '../../../src/core/baton-error.ts';
import { Secret } from '../../../src/core/text/secret.ts';
import type { RemoteView } from '../../../src/daemon/remote.ts';
import { configurationReport } from '../../../src/daemon/services/describe-project.ts';
import { healthReport } from '../../../src/daemon/services/health-report.ts';
import { requestReport } from '../../../src/daemon/services/request-report.ts';
import { salvageReport } from '../../../src/daemon/services/salvage-report.ts';
import type { SavedWork } from '../../../src/workspace/salvage/salvage.ts';
import { scratchStore } from '../../fake/scratch-store.ts';
import { begun } from '../../orchestrator/scene.ts';

/** As it goes over the wire. */
const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('the configuration report', () => {
  // @conforms api.18
  it('contains no secret at any depth, and no password of an address', () => {
    const described = [
      { key: 'tracker.provider.api_key', value: new Secret('canary-1'), origin: 'file, via $KEY' },
      {
        key: 'agent.accounts',
        value: [{ name: 'a', env: { KEY: new Secret('canary-2'), PLAIN: 'x' } }],
        origin: 'file',
      },
      { key: 'notify.targets', value: { deep: ['https://me:canary-3@host/x', null, 7] }, origin: 'file' },
      { key: 'store.url', value: 'postgres://user:canary-4@db/baton', origin: 'file' },
      { key: 'nothing', value: undefined, origin: 'default' },
    ];
    const warnings = [{ severity: 'warning', code: 'unknown_key', message: 'nobody knows it' } as never];
    const problem = new BatonError('invalid_workflow_config', 'it is bad');
    const report = configurationReport({ path: '/w/WORKFLOW.md', revision: 'r', described, warnings }, problem);
    expect(configuration.parse(sent(report))).toEqual(sent(report));
    expect(JSON.stringify(report)).not.toContain('canary');
    expect(report.settings[1]?.value).toEqual([{ name: 'a', env: { KEY: '[secret]', PLAIN: 'x' } }]);
    expect(report.settings[2]?.value).toEqual({ deep: ['https://[secret]@host/x', null, 7] });
    expect(report).toMatchObject({
      problem: { code: 'invalid_workflow_config', text: 'it is bad' },
      warnings: [{ code: 'unknown_key', text: 'nobody knows it' }],
      settings: { 4: { key: 'nothing', value: null } },
    });
  });
});

describe('the health report', () => {
  it('has the last tick, with the message of a failed step, and fits its schema', async () => {
    const stage = await begun();
    const record = stage.health.at(-1);
    if (record === undefined) throw new Error('there was no tick');
    const cause = new Error('canary of the environment');
    const error = new BatonError('store_busy', 'The store was busy.', { cause, details: { env: 'canary' } });
    const tick = { ...record.tick, steps: [{ step: 'dispatch', durationMs: 3, error } as const] };
    const parts = {
      version: '1.2.3',
      engine: 'sqlite',
      model: stage.orchestrator.read(),
      memoryBytes: 5_000_000,
    } as const;
    const delay = { read: () => ({ p50: 1, p99: 2, max: 3 }) };
    const report = healthReport({ ...parts, tick, delay });
    expect(health.parse(sent(report))).toEqual(sent(report));
    expect(report).toMatchObject({ is_healthy: true, memory_mb: 5, loop_delay_ms: { max: 3 } });
    expect(report.tick?.steps).toEqual([{ step: 'dispatch', duration_ms: 3, error: 'The store was busy.' }]);
    expect(JSON.stringify(report)).not.toContain('canary');
    expect(healthReport({ ...parts, tick: null, delay }).tick).toBeNull();
  });

  it('is not healthy while there is a problem, and names it', async () => {
    const stage = await begun();
    stage.file.problem = new BatonError('invalid_workflow_config', 'the file is bad');
    const delay = { read: () => ({ p50: 1, p99: 2, max: 3 }) };
    const model = stage.orchestrator.read();
    expect(healthReport({ version: '1', engine: 'postgres', model, tick: null, delay, memoryBytes: 0 })).toMatchObject({
      is_healthy: false,
      problems: [{ code: 'invalid_workflow_config', text: 'the file is bad' }],
    });
  });
});

describe('the request report', () => {
  it('shows the spenders and the state of the limiter, and fits its schema', async () => {
    const { requestCounts } = await scratchStore(systemClock);
    const now = Date.UTC(2026, 10, 15, 12, 30);
    const sentOne = {
      route: '/graphql',
      method: 'POST',
      job: 'tracker_poll',
      cause: 'tick',
      at: now,
      bytes: 100,
    } as const;
    await requestCounts.add({ ...sentOne, provider: 'linear', statusClass: '2xx', latencyMs: 10 });
    await requestCounts.add({ ...sentOne, provider: 'linear', statusClass: '5xx', latencyMs: 20 });
    await requestCounts.add({ ...sentOne, provider: 'github', statusClass: '2xx', latencyMs: 20 });
    const view: RemoteView = {
      provider: 'linear',
      pressure: { step: 'warned', spacingMs: 0, until: now, text: 'half is gone' },
      windows: [{ name: 'requests_per_hour', source: 'announced', limit: 10, used: 5, resetAt: now } as never],
    };
    const budget = { requestsPerHour: null, requestsPerDay: null };
    const report = await requestReport({ requestCounts, views: [view], budget, now }, 24);
    expect(requests.parse(sent(report))).toEqual(sent(report));
    expect(report.providers).toMatchObject([
      { provider: 'github', last_hour: 1, today: 1, step: 'free', windows: [] },
      { provider: 'linear', last_hour: 2, step: 'warned', text: 'half is gone', until: '2026-11-15T12:30:00.000Z' },
    ]);
    expect(report.spenders[0]).toMatchObject({ provider: 'linear', requests: 2, failed: 1, mean_latency_ms: 15 });
  });
});

describe('the salvage report', () => {
  it('has the command that restores each entry', async () => {
    const work = { name: 'T-1/r1', issueIdentifier: 'T-1', savedAt: 0, files: 2, commits: 1 } as SavedWork;
    const list = async (): Promise<readonly SavedWork[]> => Array.from({ length: 600 }, () => work);
    const report = await salvageReport({ list }, { workflowPath: '/w/WORKFLOW.md', stateDir: '/my state' });
    expect(salvage.parse(sent(report))).toEqual(sent(report));
    expect(report.saved).toHaveLength(500);
    expect(report.saved[0]).toEqual({
      name: 'T-1/r1',
      issue_identifier: 'T-1',
      at: '1970-01-01T00:00:00.000Z',
      files: 2,
      commits: 1,
      restore: "baton salvage restore T-1/r1 --workflow /w/WORKFLOW.md --state-dir '/my state'",
    });
  });
});
