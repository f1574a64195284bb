// @module-tag full
import { existsSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { liveTable } from '../../demo/live-table.ts';
import { plainLines } from '../../demo/plain-lines.ts';
import { ticketRows } from '../../demo/ticket-rows.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { noPressure } from '../../src/core/requests/request-pressure.ts';
import type { Output } from '../../src/daemon/surroundings.ts';
import type { ReadModel, RetryingView } from '../../src/orchestrator/view/read-model.ts';
import type { BoardIssue } from '../../src/store/tables/board-issues.ts';
import { batonCommand, leaveNoPlaces, Place, startProgram } from '../cli/run-baton.ts';
import { issue } from '../fake/issues.ts';

const makeTerminal = '/usr/bin/script';
const noLine = /\r?\n/;

leaveNoPlaces();

describe('baton demo on a terminal', () => {
  it('draws a table that fits, over itself, and ends with the summary', async ({ skip }) => {
    skip(!existsSync(makeTerminal), 'there is no script(1) here to make a terminal with');
    using place = new Place({ TERM: 'xterm' });
    const columns = 64;
    const command = `stty cols ${columns} rows 40; ${batonCommand('demo', '--once')}`;
    const { code, stdout } = await startProgram(place, makeTerminal, ['-qec', command, '/dev/null']).ended;
    expect(code).toBe(0);
    // Tickets that are done, tickets, runs, runs that failed, runs without quota.
    const [before = '', after = ''] = stdout.split(/^10 \D+ 10 \D+ 13 \D+ 1 \D+ 2 [^\d\n]+$/m);
    expect(after).toContain('baton.log');
    // Every line of the table begins by clearing what was there.
    const [introduction = '', ...frames] = before.split('\r\u001b[2K');
    expect(introduction).toContain(path.join(place.state, 'baton', 'demo'));
    const lines = frames
      .join('')
      .split(noLine)
      .map((line) => stripVTControlCharacters(line).replaceAll('\r', ''));
    expect(lines.filter((line) => line.length >= columns)).toEqual([]);
    expect(lines.filter((line) => line.startsWith('WORDS-1 ')).length).toBeGreaterThan(5);
    // Every frame but the first begins by going up over the one before.
    expect(before).toContain('\u001b[13A');
    expect(before).toMatch(/ 3\/3 /);
    expect(place.pids()).toEqual([]);
  }, 90_000);
});

describe('the tickets of a demo', () => {
  const hostile = '\u001b[2J\u001b]0;owned\u0007Title\r\nnext\u009b31m\u202e';
  const model = (retryError: string, more: Partial<ReadModel> = {}): ReadModel => ({
    at: 0,
    startedAt: 0,
    candidates: [],
    isPolled: true,
    reviews: [],
    today: { tokens: 0, microUsd: 0, tokenLimit: 0, usdLimit: 0 },
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
    noRoom: null,
    errors: [],
    ...more,
  });
  const ticket: BoardIssue = {
    ...{ id: 'a', identifier: `T-1${hostile}`, title: hostile, description: null, status: 'todo', priority: null },
    ...{ labels: [], parentId: null, branch: null, url: null, blockers: [], createdAt: 0, updatedAt: 0 },
  };
  const askHere = (identifier: string): string => `/opt/baton ask show ${identifier} --workflow /demo/WORKFLOW.md`;
  const rows = ticketRows([ticket], model(hostile), askHere);
  const shownBy = (columns: number | undefined, show: (output: Output) => void): string => {
    const written: string[] = [];
    // Only what the table and the lines use of a stream.
    show({ columns, write: (text: string) => written.push(text) > 0 } as unknown as Output);
    return written.join('');
  };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose.
  const steering = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

  it('cannot steer a terminal by their words or by those of an agent', () => {
    const lines = shownBy(undefined, (output) => plainLines(output, systemClock, false)(rows));
    expect(lines).toContain('Title next');
    expect(lines).not.toMatch(steering);
    expect(lines.trimEnd().split('\n')).toHaveLength(1);
    const json = shownBy(undefined, (output) => plainLines(output, systemClock, true)(rows));
    expect(JSON.parse(json).title).not.toMatch(steering);
    const table = shownBy(100, (output) => liveTable(output, false).draw(rows, 'footer'));
    expect(table.replaceAll('\r\u001b[2K', '')).not.toMatch(steering);
    expect(table.split('\n')).toHaveLength(5);
  });

  it.each([200, 80, 40, 20, 5, 1])('fit into %d columns', (columns) => {
    const table = shownBy(columns, (output) => liveTable(output, true).draw(rows, 'a footer that is rather long'));
    const widths = table.split('\n').map((line) => stripVTControlCharacters(line).replaceAll('\r', '').length);
    expect(Math.max(...widths)).toBeLessThanOrEqual(columns);
    expect(table).toContain('\n');
  });

  const quotaLook = (more: Partial<RetryingView> = {}): RetryingView => ({
    ...{ issue: issue({ id: 'a' }), kind: 'quota', attempt: null, dueAt: 5_000, error: 'The quota is used up.' },
    ...{ waitReason: null, waitCode: null },
    ...more,
  });
  const account = (name: string, until: number | null): ReadModel['accounts'][number] => ({
    ...{ backend: 'rehearsal', name, windows: [], parks: 0, waitsFor: until === null ? null : 'no quota' },
    parked: until === null ? null : { until, since: 0, why: 'quota', reason: 'used up' },
  });
  const rowFor = (more: Partial<ReadModel>) => ticketRows([ticket], model('', { retrying: [], ...more }), askHere)[0];

  it('tell that they wait for quota and until when, with the accounts that have none', () => {
    const accounts = [account('main', 61_000), account('spare', null)];
    expect(rowFor({ waitingQuota: [quotaLook()], accounts })).toMatchObject({
      ...{ status: 'waiting_quota', code: 'waiting_quota', until: '1970-01-01T00:00:05.000Z' },
      detail: expect.stringMatching(/ 00:00:05 .*: main .* 00:01:01$/),
    });
    expect(rowFor({ waitingQuota: [quotaLook()] })?.detail).toMatch(/ 00:00:05 .*: The quota is used up\.$/);
    const lines = shownBy(undefined, (output) =>
      plainLines(output, systemClock, false)(ticketRows([ticket], model('', { waitingQuota: [quotaLook()] }), askHere)),
    );
    expect(lines).toContain(' 00:00:05 ');
  });

  it('tell what they wait for when there is quota again', () => {
    const look = quotaLook({ waitCode: 'no_slot', waitReason: 'no slot (3 of 3)' });
    expect(rowFor({ waitingQuota: [look] })).toMatchObject({
      ...{ status: 'waiting', code: 'no_slot', detail: 'no slot (3 of 3)' },
    });
    const unpaid = quotaLook({ waitCode: 'waiting_quota', waitReason: 'account "main" has no quota left' });
    expect(rowFor({ waitingQuota: [unpaid] })).toMatchObject({ status: 'waiting_quota' });
  });

  it('that ask a person say what, however hostile, and are not taken for running', () => {
    const field = { name: 'x', label: '', options: ['red', hostile], allowsOther: false, isSecret: false };
    const asked = {
      ...{ id: 'q', issue: issue({ id: 'a' }), runId: 'r', askedAt: 0, until: 1 },
      question: { kind: 'input', text: `Which?${hostile}`, detail: '', fields: [field] },
    } as const;
    const row = rowFor({ questions: [asked] });
    expect(row).toMatchObject({ status: 'asking', detail: 'Which?Title next 31m (red, or Title next 31m )' });
    const table = shownBy(100, (output) => liveTable(output, false).draw(row === undefined ? [] : [row], ''));
    expect(table).toContain(' Which?');
    expect(table.replaceAll('\r\u001b[2K', '')).not.toMatch(steering);
  });

  it('that are held with a question show it with a command that works in every folder', () => {
    const held = { code: 'agent_input_required', since: 0, runId: null, issue: issue({ id: 'a' }) };
    const reason = 'The agent asks: Which? To answer: baton ask show WORDS-10';
    const [row] = ticketRows(
      [{ ...ticket, identifier: 'WORDS-10' }],
      model('', { held: [{ ...held, reason }] }),
      askHere,
    );
    expect(row).toMatchObject({
      ...{ status: 'held', code: 'agent_input_required' },
      detail: `The agent asks: Which? To answer: ${askHere('WORDS-10')}`,
    });
  });

  it('stand below what is said once, which is never drawn over', () => {
    const written = shownBy(100, (output) => {
      const table = liveTable(output, false);
      table.draw(rows, 'footer');
      table.say(['a question', 'a command']);
      table.draw(rows, 'footer');
      table.draw(rows, 'footer');
    });
    const [, after = ''] = written.split('\u001b[4A\r\u001b[Ja question\na command\n');
    expect(after.match(/\[\d+A/g)).toEqual(['[4A']);
    expect(after.startsWith('\r\u001b[2K')).toBe(true);
  });

  it('fit a terminal that does not tell its width', () => {
    const lines = shownBy(0, (output) => liveTable(output, false).draw(rows, '')).split('\n');
    expect(lines).toHaveLength(5);
    expect(lines[1]).toContain('Title next');
    expect(stripVTControlCharacters(lines[1] ?? '').length).toBeLessThanOrEqual(80);
  });
});
