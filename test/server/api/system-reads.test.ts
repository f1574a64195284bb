import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { runStart } from '../../conformance/store.ts';
import { issue } from '../../fake/issues.ts';
import { settings } from '../../fake/settings.ts';
import { begun } from '../../orchestrator/scene.ts';
import { telling } from '../../telling.ts';
import { projectOf } from './api-scene.ts';
import { readsOf } from './read-scene.ts';

const at = '/api/v1/projects/test';
const amount = { inputTokens: 1, cachedInputTokens: 2, outputTokens: 3, reasoningTokens: 4, totalTokens: 10, runs: 1 };

describe('every address of a project', () => {
  it('returns 404 for an unknown project, and changes nothing', async () => {
    const stage = await begun();
    const { routes, refused } = readsOf([projectOf(stage)]);
    const below = routes.map(({ path }) => path).filter((path) => path.includes(':project'));
    expect(below.length).toBeGreaterThan(15);
    expect(routes.every(({ method, scope }) => method === 'GET' && scope === 'read')).toBe(true);
    for (const path of below) {
      const address = path.replace(':project', 'nobody').replaceAll(/:\w+/g, 'x');
      const query = path.endsWith('/search') ? '?q=x' : '';
      expect([path, ...(await refused(`${address}${query}`))]).toEqual([path, 404, 'project_not_found']);
    }
  });
});

describe('the projects', () => {
  it('are listed, and the current state of one is returned', async () => {
    const stage = await begun();
    const { get, ask } = readsOf([projectOf(stage), projectOf(stage, 'another one')]);
    expect((await get('/api/v1/projects')).projects.map(({ name }: { name: string }) => name)).toEqual([
      'test',
      'another one',
    ]);
    expect(await get(at)).toMatchObject({ project: 'test', running: [{ issue_identifier: 'T-1' }] });
    expect(await (await ask(`${at}/`)).json()).toMatchObject({ project: 'test' });
    expect((await ask(`${at}/queue/`)).status).toBe(200);
    expect((await ask(`${at}//`)).status).toBe(404);
    expect(await get('/api/v1/projects/another%20one')).toMatchObject({ project: 'another one' });
  });
});

describe('the queue', () => {
  it('has every candidate that has not started, in start order, with the reason', async () => {
    const issues = [
      issue({ id: 'late', priority: 4, createdAt: 1 }),
      issue({ id: 'runs', priority: 1, createdAt: 1 }),
      issue({ id: 'next', priority: 2, createdAt: 1 }),
      issue({ id: 'held', priority: 3, createdAt: 1 }),
    ];
    const stage = await begun({ issues, settings: settings({ intervalMs: 100, agent: { maxConcurrentAgents: 1 } }) });
    await stage.command('issue_hold', { issue: 'T-held', reason: 'not yet' });
    await stage.clock.advance(10);
    const { candidates, next_poll_at: nextPoll } = await readsOf([projectOf(stage)]).get(`${at}/queue`);
    expect(
      candidates.map((each: { issue_id: string; reason: { code: string } }) => [each.issue_id, each.reason.code]),
    ).toEqual([
      ['next', 'project_full'],
      ['held', 'person'],
      ['late', 'project_full'],
    ]);
    expect(candidates[0].next_check_at).toBe(nextPoll);
    expect(candidates[1]).toMatchObject({ next_check_at: null, reason: { text: expect.stringContaining('not yet') } });
  });

  it('shows when a waiting retry is checked next', async () => {
    const stage = await begun();
    stage.runs[0]?.fail('agent_exited');
    await stage.clock.advance(150);
    const { candidates } = await readsOf([projectOf(stage)]).get(`${at}/queue`);
    const due = stage.orchestrator.read().retrying[0]?.dueAt ?? 0;
    expect(candidates).toMatchObject([{ issue_id: '1', next_check_at: new Date(due).toISOString() }]);
  });
});

describe('the queue without a free slot', () => {
  const full = () =>
    begun({
      issues: [issue({ id: '1', createdAt: 1 }), issue({ id: '2', createdAt: 2 })],
      settings: settings({ intervalMs: 100, agent: { maxConcurrentAgents: 1 } }),
    });

  // @conforms api.70
  it('says that a due retry waits for a slot', async () => {
    const stage = await full();
    stage.runs[0]?.fail('agent_exited');
    await stage.clock.advance(60_000);
    expect(stage.orchestrator.read().running).toMatchObject([{ issue: { id: '2' } }]);
    const { candidates } = await readsOf([projectOf(stage)]).get(`${at}/queue`);
    expect(candidates).toMatchObject([{ issue_id: '1', reason: { code: 'project_full', text: telling(1) } }]);
  });

  it('says the same for an unchecked issue, but not for one that waits for its time', async () => {
    const stage = await full();
    const model = stage.orchestrator.read();
    const queue = async (more: Partial<typeof model>) =>
      (
        await readsOf([projectOf(stage, 'test', { read: () => ({ ...model, skipped: [], ...more }) })]).get(
          `${at}/queue`,
        )
      ).candidates[0].reason;
    expect(await queue({})).toEqual({ code: 'project_full', text: telling(1) });
    expect(await queue({ slots: { used: 1, limit: 2 } })).toBeNull();
    const name = { id: '2', identifier: 'T-2', url: null };
    const look = { issue: name, kind: 'failure', attempt: 1, error: null, waitReason: null, waitCode: null } as const;
    expect(await queue({ retrying: [{ ...look, dueAt: model.at + 1 }] })).toBeNull();
    expect(await queue({ retrying: [{ ...look, dueAt: model.at }] })).toMatchObject({ code: 'project_full' });
    // A due retry still says why there is one.
    const due = {
      ...look,
      dueAt: model.at,
      error: 'it broke',
      waitReason: 'all busy',
      waitCode: 'project_full',
    } as const;
    expect(await queue({ retrying: [due] })).toEqual({ code: 'project_full', text: telling('it broke', 'all busy') });
  });
});

describe('the questions', () => {
  it('lists open ones first, oldest first, then the latest of the others, each once', async () => {
    const stage = await begun({ issues: [] });
    const { questions } = stage.store;
    const field = { name: 'a', label: 'A', options: ['x'], allowsOther: false, isSecret: true };
    const question = { kind: 'input', text: 'Which?', detail: 'd', fields: [field] } as const;
    for (const [n, id] of ['old', 'answered', 'closed', 'young'].entries())
      await questions.ask({
        id,
        project: stage.project,
        issueId: 'i',
        identifier: 'T-i',
        runId: 'r',
        askedAt: n,
        question,
      });
    const author = { kind: 'run', runId: 'r9' } as const;
    await questions.answer('answered', { at: 9, author, answer: { decision: 'accept', values: { a: 'x' } } });
    await questions.deliver(['answered'], 'r10');
    await questions.close('closed', 9);
    const { get, refused } = readsOf([projectOf(stage)]);
    const list = (await get(`${at}/questions`)).questions;
    expect(list.map((each: { id: string; state: string }) => [each.id, each.state])).toEqual([
      ['old', 'open'],
      ['young', 'open'],
      ['closed', 'closed'],
      ['answered', 'answered'],
    ]);
    expect(list[0].fields).toEqual([{ name: 'a', label: 'A', options: ['x'], allows_other: false, is_secret: true }]);
    expect(list[3].answer).toMatchObject({
      values: { a: 'x' },
      author: { kind: 'run', run_id: 'r9' },
      delivered_to: 'r10',
    });
    expect((await get(`${at}/questions?limit=1`)).questions).toHaveLength(2);
    expect(await refused(`${at}/questions?limit=0`)).toEqual([422, 'invalid_request']);
  });

  it('of a live agent say until when it waits', async () => {
    const stage = await begun({
      settings: settings({ intervalMs: 100, agent: { approvals: 'ask', askTimeoutMs: 60_000 } }),
    });
    const question = { kind: 'input', text: 'Which?', detail: '', fields: [] } as const;
    void stage.runs[0]?.request.ask(question);
    for (let turn = 0; turn < 5; turn += 1) await stage.clock.advance(1);
    const { get } = readsOf([projectOf(stage)]);
    const [asked] = (await get(`${at}/questions`)).questions;
    expect(asked.waits_until).toBe(new Date(stage.orchestrator.read().questions[0]?.until ?? 0).toISOString());
    expect((await get(`${at}/issues/1`)).activity).toBe('asking');
  });
});

describe('the latest commands', () => {
  it('have their author and answer, newest first', async () => {
    const stage = await begun();
    await stage.command('pause', { reason: 'lunch' });
    await stage.command('pause');
    const { commands } = await readsOf([projectOf(stage)]).get(`${at}/commands`);
    expect(commands).toMatchObject([
      { kind: 'pause', status: 'refused', code: 'already_paused', reason: null },
      {
        kind: 'pause',
        status: 'done',
        code: 'paused',
        data: { runs: 1 },
        reason: 'lunch',
        author: { kind: 'person', name: 'me' },
      },
    ]);
  });
});

describe('the commands of issues', () => {
  // @conforms api.69
  it('name issues by identifier if it is known, otherwise as requested', async () => {
    const stage = await begun({ issues: [issue({ id: '1' })] });
    await stage.store.runs.start(runStart('r-old', { project: stage.project, issueId: 'gone', identifier: 'OLD-1' }));
    for (const name of ['1', 'gone', 'nobody', 't-1']) await stage.command('issue_hold', { issue: name });
    const { commands } = await readsOf([projectOf(stage)]).get(`${at}/commands`);
    const names = commands.map((command: { issue: string }) => command.issue);
    expect(names).toEqual(['t-1', 'nobody', 'OLD-1', 'T-1']);
  });
});

describe('the system', () => {
  it('lists its jobs', async () => {
    const stage = await begun();
    const { jobs } = await readsOf([projectOf(stage)]).get(`${at}/jobs`);
    expect(jobs.find(({ name }: { name: string }) => name === 'tracker_poll')).toMatchObject({
      outcome: 'ok',
      failures: 0,
    });
  });

  it('reports at most as many hours of requests as are stored', async () => {
    const stage = await begun();
    const asked: number[] = [];
    const requests = async (hours: number) => {
      asked.push(hours);
      return { hours, budget: { requests_per_hour: null, requests_per_day: null }, providers: [], spenders: [] };
    };
    const { get, refused } = readsOf([projectOf(stage, 'test', { requests })]);
    await get(`${at}/requests`);
    await get(`${at}/requests?hours=168`);
    expect(asked).toEqual([24, 168]);
    for (const hours of ['0', '169', 'x', '1.5'])
      expect(await refused(`${at}/requests?hours=${hours}`)).toEqual([422, 'invalid_request']);
  });
});

describe('the usage', () => {
  it('is summed by day, role and issue for the requested days', async () => {
    const stage = await begun({ issues: [issue({ id: 'seen', identifier: 'T-seen' })] });
    const { usage, runs } = stage.store;
    const of = { project: stage.project, costMicroUsd: 250_000, ...amount };
    await runs.start(runStart('r1', { project: stage.project, issueId: 'i1', identifier: 'BAT-1' }));
    await usage.add({ ...of, issueId: 'i1', day: '2026-11-14', role: 'worker' });
    await usage.add({ ...of, issueId: 'i1', day: '2026-11-15', role: 'judge', totalTokens: 50 });
    await usage.add({ ...of, issueId: 'seen', day: '2026-11-15', role: 'worker' });
    await usage.add({ ...of, issueId: 'gone', day: '2026-11-15', role: 'worker', totalTokens: 5 });
    await usage.add({ ...of, issueId: 'i1', day: '2026-11-16', role: 'worker', totalTokens: 10_000 });
    const { get } = readsOf([projectOf(stage)]);
    const report = await get(`${at}/usage?from=2026-11-14&to=2026-11-15`);
    expect(report.total).toMatchObject({ total_tokens: 75, runs: 4, cost_usd: 1 });
    expect(report.by_day).toMatchObject([
      { day: '2026-11-14', total_tokens: 10 },
      { day: '2026-11-15', total_tokens: 65 },
    ]);
    expect(report.by_role).toMatchObject([
      { role: 'judge', total_tokens: 50 },
      { role: 'worker', total_tokens: 25 },
    ]);
    expect(report.by_issue).toMatchObject([
      { issue_id: 'i1', issue_identifier: 'BAT-1', total_tokens: 60 },
      { issue_id: 'seen', issue_identifier: 'T-seen' },
      { issue_id: 'gone', issue_identifier: 'gone' },
    ]);
  });

  it('covers the last thirty days by default', async () => {
    const stage = await begun();
    const { get } = readsOf([projectOf(stage)], {
      now: () => Date.UTC(2026, 10, 15, 23, 59),
      monotonic: () => 0,
      schedule: systemClock.schedule.bind(systemClock),
    });
    expect(await get(`${at}/usage`)).toMatchObject({ from_day: '2026-10-17', to_day: '2026-11-15', by_day: [] });
    expect(await get(`${at}/usage?to=2024-03-01`)).toMatchObject({ from_day: '2024-02-01', to_day: '2024-03-01' });
  });

  it.each([
    'from=2026-11-16&to=2026-11-15',
    'from=2025-11-14&to=2026-11-15',
    'from=yesterday',
    'from=2026-02-30',
    'to=2026-13-01',
  ])('rejects %s', async (query) => {
    const { refused } = readsOf([projectOf(await begun())]);
    expect(await refused(`${at}/usage?${query}`)).toEqual([422, 'invalid_request']);
  });

  it('covers up to a leap year', async () => {
    const { get } = readsOf([projectOf(await begun())]);
    await get(`${at}/usage?from=2024-01-01&to=2024-12-31`);
  });
});

describe('the workspaces of a project', () => {
  it('are reported as they are, or as a prune before the end of their retention would find them', async () => {
    const row = {
      issue_id: 'i1',
      issue_identifier: 'BAT-1',
      state: 'done',
      key: 'BAT-1',
      path: '/w/BAT-1',
      step: 'whole',
      bytes: null,
      changed_at: '2026-11-15T00:00:00.000Z',
      pinned: false,
      last_run: null,
      reason: 'for a reason',
    } as const;
    const { get, refused } = readsOf([
      projectOf(await begun(), 'test', {
        workspaces: async ({ ignoresRetention: may_go }) => ({
          root: '/w',
          workspaces: [{ ...row, may_go, code: may_go ? null : 'retention' }],
          problem: { code: 'tracker_request', message: 'No answer.' },
        }),
      }),
    ]);
    expect(await get(`${at}/workspaces`)).toMatchObject({ workspaces: [{ may_go: false, code: 'retention' }] });
    expect(await get(`${at}/workspaces?ignores_retention=true`)).toMatchObject({ workspaces: [{ may_go: true }] });
    expect(await refused(`${at}/workspaces?ignores_retention=perhaps`)).toEqual([422, 'invalid_request']);
  });
});
