import { describe, expect, it } from 'vitest';
import { symphonyIssue, symphonyRefresh, symphonyState } from '../../../src/client/schema/symphony.ts';
import { issue } from '../../fake/issues.ts';
import { settings } from '../../fake/settings.ts';
import { begun, type Scene } from '../../orchestrator/scene.ts';
import { apiOf, projectOf } from './api-scene.ts';

/** One issue runs, one waits for its retry, one is held. */
async function threeOfAKind(): Promise<Scene> {
  const issues = ['MT-RUN', 'MT-RETRY', 'MT-BLOCKED'].map((identifier, at) => issue({ id: `${at + 1}`, identifier }));
  const stage = await begun({ issues, settings: settings({ intervalMs: 100 }) });
  const runOf = (identifier: string) => stage.runs.find(({ request }) => request.issue.identifier === identifier);
  runOf('MT-RETRY')?.fail('agent_exited');
  await stage.command('issue_stop', { issue: 'MT-BLOCKED', reason: 'look at it first' });
  runOf('MT-BLOCKED')?.end();
  await stage.clock.advance(10);
  return stage;
}

const tokens = {
  input_tokens: expect.any(Number),
  output_tokens: expect.any(Number),
  total_tokens: expect.any(Number),
};

describe("the addresses of Symphony's API", () => {
  // @conforms H1
  it('GET /api/v1/state has exactly the keys of the reference, and the counts', async () => {
    const stage = await threeOfAKind();
    const { ask } = await apiOf([projectOf(stage)]);
    const { status, json } = await ask('GET', '/api/v1/state');
    expect(status).toBe(200);
    expect(symphonyState.strict().safeParse(json).error).toBeUndefined();
    expect(json.counts).toEqual({ running: 1, retrying: 1, blocked: 1 });
    expect(Object.keys(json.running[0]).toSorted()).toEqual(
      [
        ...['issue_id', 'issue_identifier', 'issue_url', 'last_event', 'last_event_at', 'last_message', 'session_id'],
        ...['started_at', 'state', 'tokens', 'turn_count', 'worker_host', 'workspace_path'],
      ].toSorted(),
    );
    expect(json.running[0]).toMatchObject({
      issue_identifier: 'MT-RUN',
      worker_host: null,
      workspace_path: null,
      tokens,
    });
    expect(json.retrying).toEqual([
      {
        issue_id: '2',
        issue_identifier: 'MT-RETRY',
        issue_url: null,
        attempt: 1,
        worker_host: null,
        due_at: expect.any(String),
        error: expect.stringContaining('agent_exited'),
        workspace_path: null,
      },
    ]);
    expect(json.blocked).toMatchObject([
      { issue_identifier: 'MT-BLOCKED', error: expect.stringContaining('look at it first'), last_event: null },
    ]);
    expect(json.codex_totals).toEqual({ ...tokens, seconds_running: expect.any(Number) });
  });

  // @conforms H2
  it('GET returns a running issue', async () => {
    const { ask } = await apiOf([projectOf(await threeOfAKind())]);
    const { status, json } = await ask('GET', '/api/v1/mt-run');
    expect(status).toBe(200);
    expect(symphonyIssue.strict().safeParse(json).error).toBeUndefined();
    expect(json).toMatchObject({
      issue_identifier: 'MT-RUN',
      status: 'running',
      retry: null,
      blocked: null,
      tracked: {},
      recent_events: [],
      attempts: { restart_count: 0, current_retry_attempt: 0 },
      logs: { codex_session_logs: [] },
    });
  });

  // @conforms H3
  it('GET returns a retrying issue', async () => {
    const { ask } = await apiOf([projectOf(await threeOfAKind())]);
    const { json } = await ask('GET', '/api/v1/MT-RETRY');
    expect(json).toMatchObject({
      status: 'retrying',
      running: null,
      attempts: { restart_count: 0, current_retry_attempt: 1 },
      last_error: expect.stringContaining('agent_exited'),
    });
  });

  // @conforms H4
  it('GET returns a held issue with the reason', async () => {
    const { ask } = await apiOf([projectOf(await threeOfAKind())]);
    const { json } = await ask('GET', '/api/v1/MT-BLOCKED');
    expect(json).toMatchObject({ status: 'blocked', last_error: expect.stringContaining('look at it first') });
  });

  // @conforms H5
  it('GET returns 404 for an unknown issue', async () => {
    const { ask } = await apiOf([projectOf(await threeOfAKind())]);
    expect(await ask('GET', '/api/v1/MT-MISSING')).toMatchObject({
      status: 404,
      json: { error: { code: 'issue_not_found', message: 'Issue not found' } },
    });
  });

  // @conforms H6
  it('POST /api/v1/refresh polls the tracker', async () => {
    const stage = await threeOfAKind();
    const { ask } = await apiOf([projectOf(stage)]);
    const before = stage.calls.length;
    const { status, json } = await ask('POST', '/api/v1/refresh');
    expect(status).toBe(202);
    expect(symphonyRefresh.strict().parse(json)).toMatchObject({ queued: true, operations: ['poll', 'reconcile'] });
    await stage.clock.advance(2_000);
    expect(stage.calls.length).toBeGreaterThan(before);
  });

  // @conforms H7
  it.each([
    ['POST', '/api/v1/state'],
    ['GET', '/api/v1/refresh'],
    ['POST', '/api/v1/MT-1'],
    ['DELETE', '/api/v1/MT-1'],
    ['POST', '/api/v1/events'],
  ])('%s %s is refused', async (method, path) => {
    const { ask } = await apiOf([projectOf(await begun())]);
    expect(await ask(method, path)).toMatchObject({
      status: 405,
      json: { error: { code: 'method_not_allowed', message: 'Method not allowed' } },
    });
  });

  // @conforms H8
  it('return 404 for an unknown address', async () => {
    const { ask } = await apiOf([projectOf(await begun())]);
    expect(await ask('GET', '/unknown')).toMatchObject({
      status: 404,
      json: { error: { code: 'not_found', message: 'Route not found' } },
    });
  });

  // @conforms H14
  it('report that there is no project, without failing', async () => {
    const { ask } = await apiOf([]);
    expect(await ask('GET', '/api/v1/state')).toMatchObject({
      status: 200,
      json: {
        generated_at: expect.any(String),
        error: { code: 'snapshot_unavailable', message: 'Snapshot unavailable' },
      },
    });
    expect(await ask('POST', '/api/v1/refresh')).toMatchObject({
      status: 503,
      json: { error: { code: 'orchestrator_unavailable', message: 'Orchestrator is unavailable' } },
    });
  });

  // @conforms api.71
  it('ask clients to come back while projects are starting', async () => {
    const { ask, registry } = await apiOf([]);
    registry.expect(2);
    const again = { status: 503, json: { error: { code: 'starting' } } };
    expect(await ask('GET', '/api/v1/projects/test/queue')).toMatchObject(again);
    expect(await ask('POST', '/api/v1/projects/test/commands', { kind: 'pause' })).toMatchObject(again);
    expect(await ask('GET', '/api/v1/events')).toMatchObject(again);
    registry.add(projectOf(await begun()));
    expect((await ask('GET', '/api/v1/projects/test/queue')).status).toBe(200);
    expect(await ask('GET', '/api/v1/events')).toMatchObject(again);
    registry.startFailed();
    expect((await ask('GET', '/api/v1/projects/other/queue')).json.error.code).toBe('project_not_found');
  });

  // @conforms ref-1.15
  it('show the workspace, session and last message of the last run of a waiting issue', async () => {
    const issues = ['MT-RETRY', 'MT-BLOCKED'].map((identifier, at) => issue({ id: `${at + 1}`, identifier }));
    const stage = await begun({ issues, settings: settings({ intervalMs: 100 }) });
    for (const {
      request: { issue: of, report },
    } of stage.runs) {
      report({ kind: 'workspace', path: `/w/${of.identifier}` });
      report({ kind: 'session', threadId: 'thread-7' });
      report({ kind: 'turn', turn: 2 });
      report({ kind: 'event', event: { at: stage.clock.now(), name: 'notification', summary: 'half way', pid: 1 } });
      report({ kind: 'stage', stage: 'finishing' });
    }
    await stage.clock.advance(1_000);
    const runOf = (identifier: string) => stage.runs.find(({ request }) => request.issue.identifier === identifier);
    runOf('MT-RETRY')?.fail('agent_exited');
    await stage.command('issue_stop', { issue: 'MT-BLOCKED', reason: 'look at it first' });
    runOf('MT-BLOCKED')?.end();
    await stage.clock.advance(10);
    const { ask } = await apiOf([projectOf(stage)]);
    const { json } = await ask('GET', '/api/v1/state');
    expect(json.retrying).toMatchObject([{ workspace_path: '/w/MT-RETRY' }]);
    expect(json.blocked).toMatchObject([
      {
        workspace_path: '/w/MT-BLOCKED',
        session_id: 'thread-7-2',
        last_event: 'notification',
        last_message: 'half way',
      },
    ]);
    const held = (await ask('GET', '/api/v1/MT-BLOCKED')).json;
    expect(held.workspace).toEqual({ path: '/w/MT-BLOCKED', host: null });
    expect(held.recent_events).toHaveLength(1);
  });

  // @conforms ref-last-words
  it('show the last words of the agent as the last message of a waiting issue', async () => {
    const stage = await begun({ issues: [issue({ id: '1', identifier: 'MT-1' })] });
    const [run] = stage.runs;
    run?.request.report({ kind: 'message', text: 'I need the password of the printer.' });
    const event = { at: stage.clock.now(), name: 'turn_completed', summary: 'turn completed', pid: 1 } as const;
    run?.request.report({ kind: 'event', event });
    await stage.clock.advance(1_000);
    run?.fail('agent_exited');
    await stage.clock.advance(10);
    const { ask } = await apiOf([projectOf(stage)]);
    const { recent_events: last } = (await ask('GET', '/api/v1/MT-1')).json;
    expect(last).toMatchObject([{ event: 'turn_completed', message: 'I need the password of the printer.' }]);
  });

  // @conforms ref-session-id
  it('name a session by its thread and its turn, and none before the first turn', async () => {
    const stage = await begun({ issues: [issue({ id: '1', identifier: 'MT-1' })] });
    const { ask } = await apiOf([projectOf(stage)]);
    const sessionNow = async () => (await ask('GET', '/api/v1/state')).json.running[0].session_id;
    const report = stage.runs[0]?.request.report;
    report?.({ kind: 'session', threadId: 'thread-7' });
    expect(await sessionNow()).toBeNull();
    report?.({ kind: 'turn', turn: 1 });
    expect(await sessionNow()).toBe('thread-7-1');
    report?.({ kind: 'turn', turn: 2 });
    expect(await sessionNow()).toBe('thread-7-2');
  });

  // @conforms ref-rate-limits
  it('have the limits as the agent reported them, next to those by account', async () => {
    const stage = await begun({ issues: [issue({ id: '1', identifier: 'MT-1' })] });
    const { ask } = await apiOf([projectOf(stage)]);
    const limitsNow = async () => (await ask('GET', '/api/v1/state')).json.rate_limits;
    expect(await limitsNow()).toBeNull();
    const told = (rateLimits: Readonly<Record<string, unknown>>) =>
      stage.runs[0]?.request.report({
        kind: 'event',
        event: {
          ...{ at: stage.clock.now(), name: 'notification', summary: 'quota', pid: 1, rateLimits },
          quota: [{ name: 'primary', usedPercent: 40, windowMinutes: 300, resetsAt: null }],
        },
      });
    told({ limit_id: 'codex', primary: { remaining: 9, limit: 20 } });
    told({ limit_id: 'codex', primary: { remaining: 8, limit: 20 }, credits: { unlimited: true } });
    const found = await limitsNow();
    expect(found).toMatchObject({
      limit_id: 'codex',
      primary: { remaining: 8, limit: 20 },
      credits: { unlimited: true },
    });
    const accounts = Object.entries(found).filter(([name]) => name.includes('/'));
    expect(accounts).toMatchObject([[expect.any(String), { primary: { used_percent: 40, window_minutes: 300 } }]]);
  });

  it('count the seconds of finished and running runs', async () => {
    const stage = await begun({ issues: [issue({ id: '1' })] });
    const { ask } = await apiOf([projectOf(stage)]);
    await stage.clock.advance(30_000);
    stage.runs[0]?.succeed();
    await stage.clock.advance(10);
    const first = (await ask('GET', '/api/v1/state')).json;
    expect(first.codex_totals.seconds_running).toBe(30);
  });

  // @conforms X15
  it('answer while the tracker does not', async () => {
    const stage = await begun();
    stage.tracker.fetchByStates = () => new Promise(() => {});
    stage.orchestrator.refresh();
    await stage.clock.advance(5_000);
    const { ask } = await apiOf([projectOf(stage)]);
    expect((await ask('GET', '/api/v1/state')).json.polling).toMatchObject([{ poll_check_in_progress: true }]);
  });
});
