import { describe, expect, it } from 'vitest';
import { BatonError } from '../../../src/core/baton-error.ts';
import { issue } from '../../fake/issues.ts';
import { begun } from '../../orchestrator/scene.ts';
import { apiOf, projectOf } from './api-scene.ts';

describe('GET /metrics', () => {
  // @conforms api.29, 4.15
  it('has slots, issues, runs, tokens, cost, requests, loop delay and the lateness of jobs', async () => {
    const stage = await begun({ issues: [issue({ id: '1' }), issue({ id: '2' })] });
    const { ask, metrics } = await apiOf([projectOf(stage)]);
    metrics.runEnded({
      project: 'test',
      outcome: 'failed',
      retryKind: null,
      durationMs: 61_000,
      inputTokens: 10,
      outputTokens: 5,
      costMicroUsd: 1_500_000,
    });
    metrics.requestSent({ provider: 'linear', statusClass: '2xx', job: 'tracker_poll', latencyMs: 80 });
    const { status, text, headers } = await ask('GET', '/metrics');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('text/plain');
    for (const line of [
      'baton_slots_used{project="test"} 2',
      'baton_issues{project="test",state="running"} 2',
      'baton_runs_total{project="test",outcome="failed",started_for="dispatch"} 1',
      'baton_run_duration_seconds_bucket{le="120",project="test",outcome="failed"} 1',
      'baton_tokens_total{project="test",kind="input"} 10',
      'baton_cost_usd_total{project="test"} 1.5',
      'baton_requests_total{provider="linear",status="2xx",job="tracker_poll"} 1',
      'baton_loop_delay_seconds{quantile="0.99"} 0',
      'baton_ticks_total{project="test"} 1',
      'baton_tick_step_seconds_total{project="test",step="transitions"} 0',
      'baton_tick_step_longest_seconds{project="test",step="dispatch"} 0',
    ])
      expect(text).toContain(line);
    expect(text).toMatch(/baton_job_late_seconds\{project="test",job="tracker_poll"\} /);
    expect(text).not.toContain('T-1');
  });

  it('requires a token where one is needed', async () => {
    const { ask } = await apiOf([], new Response(null, { status: 401 }));
    expect((await ask('GET', '/metrics')).status).toBe(401);
  });
});

describe('GET /readyz', () => {
  it('answers every caller, with codes only', async () => {
    const stage = await begun();
    const { ask } = await apiOf([projectOf(stage)], new Response(null, { status: 401 }));
    expect(await ask('GET', '/healthz')).toMatchObject({ status: 200, json: { status: 'ok' } });
    expect(await ask('GET', '/readyz')).toMatchObject({ status: 200, json: { status: 'ready', problems: [] } });
    stage.file.problem = new BatonError('invalid_workflow_config', 'the file /home/ada/WORKFLOW.md is broken');
    const { status, text } = await ask('GET', '/readyz');
    expect(status).toBe(503);
    expect(text).toContain('invalid_workflow_config');
    expect(text).not.toContain('/home/ada');
  });

  it('reports a broken workflow file once, and so do the problems and what needs a person', async () => {
    const stage = await begun();
    const { ask } = await apiOf([projectOf(stage)]);
    stage.file.problem = new BatonError('invalid_workflow_config', 'the file is broken');
    await stage.clock.advance(10_000);
    const broken = [{ code: 'invalid_workflow_config' }];
    expect((await ask('GET', '/readyz')).json.problems).toMatchObject(broken);
    const { vitals, needs_you: rows } = (await ask('GET', '/api/v1/projects/test')).json;
    expect(vitals.problems).toMatchObject(broken);
    expect(rows).toMatchObject(broken);
    const status = (await ask('GET', '/api/v1/projects/test/status')).json;
    expect(status).toMatchObject({ errors: [], workflow_problem: broken[0] });
  });

  it('is not ready without a project', async () => {
    const { ask } = await apiOf([]);
    expect(await ask('GET', '/readyz')).toMatchObject({ status: 503, json: { status: 'not_ready', projects: 0 } });
  });
});
