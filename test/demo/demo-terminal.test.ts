// @module-tag full
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type IssueRow, issueRows } from '../../demo/issue-rows.ts';
import { openLines } from '../../demo/lines.ts';
import { commandsHere } from '../../src/cli/place-flags.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { noPressure } from '../../src/core/requests/request-pressure.ts';
import type { Output } from '../../src/daemon/surroundings.ts';
import type { ReadModel, RetryingView } from '../../src/orchestrator/view/read-model.ts';
import type { BoardIssue } from '../../src/store/tables/board-issues.ts';
import { batonCommand, leaveNoPlaces, Place, startProgram } from '../cli/run-baton.ts';
import { issue } from '../fake/issues.ts';

const makeTerminal = '/usr/bin/script';

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose.
const steering = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

leaveNoPlaces();

describe('baton demo on a terminal', () => {
  it('prints the same lines as in a pipe, and ends with the summary', async ({ skip }) => {
    skip(!existsSync(makeTerminal), 'there is no script(1) here to make a terminal with');
    using place = new Place({ TERM: 'xterm' });
    const command = `stty cols 64 rows 40; ${batonCommand('demo', '--once')}`;
    const { code, stdout } = await startProgram(place, makeTerminal, ['-qec', command, '/dev/null']).ended;
    expect(code).toBe(0);
    const written = stdout.replaceAll('\r\n', '\n');
    expect(written).not.toMatch(steering);
    // Issues that are done, issues, runs, runs that failed, runs without quota.
    const [before = '', after = ''] = written.split(/^10 \D+ 10 \D+ 21 \D+ 1 \D+ 2 [^\d\n]+$/m);
    expect(after).toContain('baton.log');
    expect(before).toContain(path.join(place.state, 'baton', 'demo'));
    expect(before).toMatch(/ http:\/\/127\.0\.0\.1:\d+\n/);
    for (let number = 1; number <= 10; number += 1)
      expect(before).toMatch(new RegExp(`^\\d\\d:\\d\\d:\\d\\d WORDS-${number} done$`, 'm'));
    // What an agent does meanwhile is not a line.
    expect(before.match(/ WORDS-2 running/g)).toHaveLength(1);
    expect(place.pids()).toEqual([]);
  }, 90_000);
});

describe('the issue rows of a demo', () => {
  const hostile = '\u001b[2J\u001b]0;owned\u0007Title\r\nnext\u009b31m\u202e';
  const model = (retryError: string, more: Partial<ReadModel> = {}): ReadModel => ({
    at: 0,
    startedAt: 0,
    proposals: [],
    stepTimes: new Map(),
    candidates: [],
    isPolled: true,
    reviews: [],
    today: { tokens: 0, microUsd: 0, tokenLimit: 0, usdLimit: 0, roles: [] },
    polling: {
      mode: 'fixed',
      intervalMs: 1,
      lastActivityAt: 0,
      quietUntil: null,
      failures: 0,
      pressure: noPressure,
      nextPollDueAt: null,
      pollCheckInProgress: false,
      ticks: 1,
    },
    jobs: [],
    findings: [],
    slots: { used: 0, limit: 1 },
    running: [],
    retrying: [
      {
        issue: issue({ id: 'a', title: hostile }),
        kind: 'failure',
        attempt: 1,
        dueAt: 0,
        error: retryError,
        waitReason: null,
        waitCode: null,
      },
    ],
    waitingQuota: [],
    questions: [],
    accounts: [],
    held: [],
    paused: null,
    skipped: [],
    completed: [],
    totals: { runs: 0, runMs: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0, runsByEnd: {} },
    workflowProblem: null,
    workflowWaiting: null,
    agents: [],
    taskAgents: null,
    governing: new Map(),
    phaseNames: [],
    phases: new Map(),
    pulls: new Map(),
    noHeadroom: null,
    environment: null,
    errors: [],
    ...more,
  });
  const filed: BoardIssue = {
    id: 'a',
    identifier: `T-1${hostile}`,
    title: hostile,
    description: null,
    status: 'todo',
    priority: null,
    labels: [],
    parentId: null,
    branch: null,
    url: null,
    blockers: [],
    createdAt: 0,
    updatedAt: 0,
  };
  const here = commandsHere({ workflow: '/demo/WORKFLOW.md' }, { batonPath: '/opt/baton', env: {} });
  const rows = issueRows([filed], model(hostile), here);
  /** What is printed of these rows, one after the other. */
  const printed = async (shown: readonly (readonly IssueRow[])[], json = false): Promise<string> => {
    const written: string[] = [];
    let now = shown[0] ?? [];
    // Only what the lines use of a stream.
    const output = { write: (text: string) => written.push(text) > 0 } as unknown as Output;
    const lines = openLines({ rows: async () => now, json, output, clock: systemClock });
    for (const rowsOfNow of shown) {
      now = rowsOfNow;
      await lines.close();
    }
    return written.join('');
  };

  it('cannot control a terminal, neither by issue text nor by agent text', async () => {
    const lines = await printed([rows]);
    expect(lines).toContain('Title next');
    expect(lines).not.toMatch(steering);
    expect(lines.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(await printed([rows], true)).title).not.toMatch(steering);
  });

  it('get a line when their status changes, and with JSON also when their detail changes', async () => {
    const at = (more: Partial<IssueRow>): IssueRow[] => rows.map((row) => ({ ...row, ...more }));
    const shown = [
      at({ status: 'waiting', detail: '', code: null }),
      at({ status: 'running', detail: 'reading', code: null }),
      at({ status: 'running', detail: 'writing', code: null }),
      at({ status: 'running', detail: 'writing', code: null }),
      at({ status: 'done', detail: '', code: null }),
    ];
    expect((await printed(shown)).trimEnd().split('\n')).toHaveLength(2);
    const objects = (await printed(shown, true))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(objects.map(({ status, detail }) => [status, detail])).toEqual([
      ['running', 'reading'],
      ['running', 'writing'],
      ['done', ''],
    ]);
  });

  it('get a line when their phase changes, which names the phase, and none while it is not known', async () => {
    const at = (phase: string | null): IssueRow[] =>
      rows.map((row) => ({ ...row, status: 'running', detail: 'reading', code: null, phase }));
    const lines = (await printed([at('research'), at(null), at('grooming'), at('ready')])).trimEnd().split('\n');
    expect(lines.map((line) => /running +(\w+): reading/.exec(line)?.[1] ?? null)).toEqual([
      'research',
      'grooming',
      null,
    ]);
  });

  const quotaRetry = (more: Partial<RetryingView> = {}): RetryingView => ({
    issue: issue({ id: 'a' }),
    kind: 'quota',
    attempt: null,
    dueAt: 5_000,
    error: 'The quota is used up.',
    waitReason: null,
    waitCode: null,
    ...more,
  });
  const account = (name: string, until: number | null): ReadModel['accounts'][number] => ({
    backend: 'rehearsal',
    name,
    windows: [],
    parks: 0,
    waitsFor: until === null ? null : 'no quota',
    parked: until === null ? null : { until, since: 0, why: 'quota', reason: 'used up' },
  });
  const rowFor = (more: Partial<ReadModel>) => issueRows([filed], model('', { retrying: [], ...more }), here)[0];

  it('show that they wait for quota and until when, with the accounts without quota', async () => {
    const accounts = [account('main', 61_000), account('spare', null)];
    expect(rowFor({ waitingQuota: [quotaRetry()], accounts })).toMatchObject({
      status: 'waiting_quota',
      code: 'waiting_quota',
      until: '1970-01-01T00:00:05.000Z',
      // One time: when it goes on. The last account may be without quota for longer.
      detail: expect.stringMatching(/^\D*\bmain \D*00:00:05$/),
    });
    expect(rowFor({ waitingQuota: [quotaRetry()] })?.detail).toMatch(/ 00:00:05: The quota is used up\.$/);
    const lines = await printed([issueRows([filed], model('', { waitingQuota: [quotaRetry()] }), here)]);
    expect(lines).toContain(' 00:00:05');
    // No line shows a time that has come.
    expect(rowFor({ waitingQuota: [quotaRetry()], at: 5_000 })?.detail).not.toContain('00:00:05');
  });

  it('show what they wait for when there is quota again', () => {
    const retry = quotaRetry({ waitCode: 'project_full', waitReason: 'no slot (3 of 3)' });
    expect(rowFor({ waitingQuota: [retry] })).toMatchObject({
      status: 'waiting',
      code: 'project_full',
      detail: 'no slot (3 of 3)',
    });
    const unpaid = quotaRetry({ waitCode: 'waiting_quota', waitReason: 'account "main" has no quota left' });
    expect(rowFor({ waitingQuota: [unpaid] })).toMatchObject({ status: 'waiting_quota' });
  });

  it('show the question of an asking issue, however hostile, and not the status running', async () => {
    const field = { name: 'x', label: '', options: ['red', hostile], allowsOther: false, isSecret: false };
    const asked = {
      id: 'q',
      issue: issue({ id: 'a' }),
      runId: 'r',
      askedAt: 0,
      until: 1,
      question: { kind: 'input', text: `Which?${hostile}`, detail: '', fields: [field] },
    } as const;
    const row = rowFor({ questions: [asked] });
    expect(row).toMatchObject({
      status: 'asking',
      detail: expect.stringMatching(/^Which\?␛.*Title next.*\(red, or ␛/),
    });
    const lines = await printed([row === undefined ? [] : [row]]);
    expect(lines).toContain(' Which?');
    expect(lines).not.toMatch(steering);
  });

  it('show a held question with a command that works in every folder', () => {
    const held = { code: 'agent_input_required', since: 0, runId: null, issue: issue({ id: 'a' }) };
    const reason = 'The agent asks: Which? To answer: baton ask show WORDS-10';
    const [row] = issueRows([{ ...filed, identifier: 'WORDS-10' }], model('', { held: [{ ...held, reason }] }), here);
    expect(row).toMatchObject({
      status: 'held',
      code: 'agent_input_required',
      detail: expect.stringMatching(/\/opt\/baton ask show WORDS-10 --workflow \/demo\/WORKFLOW\.md$/),
    });
  });

  it('show an answered question no longer, and an issue in the backlog as such', () => {
    const asked = { name: 'approval_required', at: 0, pid: 1, summary: 'Which?' } as const;
    const run = { issue: issue({ id: 'a' }), stage: 'streaming_turn', attempt: null, lastEvent: asked };
    const running = [run] as unknown as ReadModel['running'];
    const row = rowFor({ running });
    expect(row).toMatchObject({ status: 'running' });
    expect(row?.detail).not.toContain('Which?');
    const [waits] = issueRows([{ ...filed, status: 'backlog' }], model('', { retrying: [] }), here);
    expect(waits).toMatchObject({ status: 'backlog', state: 'backlog' });
  });
});
