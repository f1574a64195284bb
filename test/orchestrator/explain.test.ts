import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import type { Headroom } from '../../src/core/dispatch/headroom.ts';
import type { Issue } from '../../src/core/issue/issue.ts';
import type { Settings } from '../../src/core/settings.ts';
import { Pause } from '../../src/orchestrator/commands/pause.ts';
import { EnvironmentWatch } from '../../src/orchestrator/dispatch/environment.ts';
import { HeadroomWatch } from '../../src/orchestrator/dispatch/headroom.ts';
import { skippedIssues } from '../../src/orchestrator/dispatch/skipped.ts';
import { createSlotPool } from '../../src/orchestrator/dispatch/slot-pool.ts';
import type { Trial } from '../../src/orchestrator/parts.ts';
import { Phases } from '../../src/orchestrator/pipeline/phases.ts';
import { Candidates } from '../../src/orchestrator/poll/candidates.ts';
import { FinishedIssues } from '../../src/orchestrator/poll/finished-issues.ts';
import { TrackerReads } from '../../src/orchestrator/poll/tracker-reads.ts';
import { Judges } from '../../src/orchestrator/review/judges.ts';
import { Accounts } from '../../src/orchestrator/runs/accounts.ts';
import { Journal } from '../../src/orchestrator/runs/journal.ts';
import { OpenQuestions } from '../../src/orchestrator/runs/open-questions.ts';
import { noTotals } from '../../src/orchestrator/runs/run-totals.ts';
import { Spending } from '../../src/orchestrator/runs/spending.ts';
import { type ExplainParts, explainIssue } from '../../src/orchestrator/view/explain.ts';
import { MemoryTracker } from '../../src/tracker/memory/memory-tracker.ts';
import { issue } from '../fake/issues.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { scratchStore } from '../fake/scratch-store.ts';
import { seededChance } from '../fake/seeded-chance.ts';
import { settings } from '../fake/settings.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { pullDraft } from '../store/pull-draft.ts';
import { telling } from '../telling.ts';
import { seededClaims } from './seeded-claims.ts';

interface Given {
  readonly issues: readonly Issue[];
  readonly settings?: Settings;
  readonly trial?: Trial;
  readonly problem?: BatonError;
  readonly headroom?: Headroom;
}

const plenty: Headroom = { disk: [], memoryMb: 1_000_000 };

/** Everything an explanation reads, real. */
async function given({ issues, settings: wanted = settings(), trial, problem, headroom: left = plenty }: Given) {
  const clock = new SimulatedClock();
  const stopping = new AbortController().signal;
  const tracker = new MemoryTracker({ issues, states: [], clock });
  const store = await scratchStore(clock);
  const project = (await store.projects.ensure('test', 0)).id;
  const seeded = seededClaims({ store, clock, project });
  const { claims } = seeded;
  const logger = memoryLogger();
  const workflow = {
    path: '/w',
    revision: '1',
    settings: wanted,
    renderPrompt: () => '',
    promptOf: () => ({ version: 'v1', source: 'test' }),
    renderBranch: () => 'b',
  };
  const source = { read: () => ({ workflow, problem: problem ?? null }) };
  const chance = seededChance(1);
  const transcripts = { append: async () => {}, remove: async () => {}, list: async () => [] };
  const trackerFor = () => tracker;
  const reads = new TrackerReads({
    clock,
    stopping,
    tracker: trackerFor,
    freshnessMs: () => 0,
    backoffMs: () => 0,
    soon: () => [],
    gatherMs: () => 0,
    mostGathered: () => 0,
  });
  const headroom = new HeadroomWatch({
    clock,
    logger,
    source,
    readHeadroom: async () => left,
    onHeadroomBack: () => {},
  });
  await headroom.refresh();
  const quiet = { own: () => {}, notify: () => {}, stopRun: () => {} };
  const base = { ...quiet, claims, store, project, clock, logger, source, stopping, chance, trackerFor };
  const journal = new Journal({ ...base, transcripts });
  const phases = new Phases(base);
  const parts: ExplainParts = {
    ...base,
    reads,
    headroom,
    judges: new Judges({ source, phases, pullWatch: { open: new Map(), isRead: true } }),
    phases,
    environment: new EnvironmentWatch({ ...base, onMayStart: () => {} }),
    isShared: false,
    pool: null,
    trial: trial ?? null,
    totals: noTotals(),
    candidates: new Candidates(source),
    finishedIssues: new FinishedIssues(base),
    skipped: skippedIssues(claims),
    pause: new Pause(base),
    spending: new Spending(base),
    accounts: new Accounts({ ...base, isShared: false, onWorkingAgain: () => {} }),
    questions: new OpenQuestions({ ...base, journal }),
    isCleaning: () => false,
    cleaning: () => [],
  };
  const explain = (reference: string) => explainIssue(parts, reference);
  return { ...parts, ...seeded, clock, wanted, tracker, parts, explain };
}

const failed = ({ gates }: Awaited<ReturnType<typeof explainIssue>>) =>
  gates.flatMap(({ gate, refusal }) => (refusal === null ? [] : [[gate, refusal.code]]));

describe('an explanation', () => {
  it('passes every gate for an issue that starts next', async () => {
    const { explain, parts } = await given({ issues: [issue({ id: '1' })] });
    const told = await explain('t-1');
    expect(told).toMatchObject({
      issue: { id: '1', identifier: 'T-1', title: 'Title of 1', state: 'Todo' },
      reason: null,
      startsBefore: 0,
      nextCode: 'starts_next_tick',
    });
    expect(failed(told)).toEqual([]);
    expect(told.gates.map(({ gate }) => gate)).toEqual(
      expect.arrayContaining([
        'free_here',
        'free_elsewhere',
        'workflow',
        'not_paused',
        'day_limit',
        'headroom',
        'own_limits',
      ]),
    );
    expect((await explainIssue(parts, '1', 'visitor')).nextCode).toBe('starts_with_daemon');
  });

  it('names the free disk and the minimum', async () => {
    const headroom = { disk: [{ folder: '/data', freeMb: 12 }], memoryMb: 5 };
    const { explain } = await given({ issues: [issue({ id: '1' })], headroom });
    const told = await explain('1');
    expect(failed(told)).toEqual([['headroom', 'no_headroom']]);
    expect(told).toMatchObject({
      nextCode: 'waits',
      next: telling(12, '/data', 'workspace.min_free_disk_mb', 250),
    });
  });

  it('has every refusal, not only the first, and what happens next', async () => {
    const { pause, elsewhere, explain } = await given({
      issues: [issue({ id: '1', dispatchable: false }), issue({ id: '2' })],
      trial: { only: ['T-2'], maxRuns: null },
      problem: new BatonError('invalid_workflow_config', 'bad'),
    });
    pause.set('pause', 'lunch', 'c');
    elsewhere({ issueId: '1', host: 'other-host' });
    const told = await explain('1');
    expect(failed(told)).toEqual([
      ['free_elsewhere', 'claimed_elsewhere'],
      ['workflow', 'workflow_problem'],
      ['not_paused', 'paused'],
      ['dispatchable', 'not_dispatchable'],
      ['chosen', 'not_chosen'],
    ]);
    expect(told).toMatchObject({ nextCode: 'waits', next: telling('other-host') });
    expect(await explain('2')).toMatchObject({
      reason: { code: 'workflow_problem' },
      nextCode: 'waits',
      next: telling('bad'),
    });
  });

  it('names the command that reviews the change of an issue in review', async () => {
    const { explain, parts } = await given({ issues: [issue({ id: '1', state: 'In Review' })] });
    expect((await explain('1')).next).not.toContain('baton review');
    const pull = await parts.store.pullRequests.open(pullDraft('1', { project: parts.project }));
    expect(await explain('1')).toMatchObject({ nextCode: 'needs_change', next: telling('baton review T-1') });
    const sentBack = { at: 1, by: { kind: 'person', name: 'ann' }, kind: 'person' } as const;
    await parts.store.pullRequests.sendBack(pull, pull.headCommit, sentBack);
    expect((await explain('1')).next).not.toContain('baton review');
  });

  // @conforms runs.77
  it('puts reasons of the issue itself before those of a trial, each once', async () => {
    const issues = [issue({ id: '1', state: 'In Review' }), issue({ id: '2' })];
    const { totals, claims, retry, explain } = await given({ issues, trial: { only: null, maxRuns: 1 } });
    totals.runs = 1;
    const told = await explain('1');
    expect(failed(told)).toEqual([
      ['active', 'inactive_state'],
      ['chosen', 'not_chosen'],
    ]);
    expect(told).toMatchObject({ nextCode: 'needs_change', next: telling('"In Review"') });
    const spent = told.gates.find(({ gate }) => gate === 'chosen')?.refusal ?? expect.fail('it is chosen');
    retry('2');
    const retrying = claims.retrying.get('2') ?? expect.fail('no retry');
    claims.postpone(retrying, { delayMs: 1, why: spent });
    const waiting = await explain('2');
    expect(failed(waiting)).toEqual([
      ['free_here', 'claimed'],
      ['chosen', 'not_chosen'],
    ]);
    expect(waiting.gates.filter(({ text }) => text.includes(spent.text)).map(({ gate }) => gate)).toEqual(['chosen']);
    expect(waiting).toMatchObject({ nextCode: 'retry_waits', next: telling(spent.text) });
  });

  // @conforms runs.76
  it("calls its own claim from before a restart another daemon's only on a shared store", async () => {
    const { elsewhere, parts } = await given({ issues: [issue({ id: '1' })] });
    elsewhere({ issueId: '1', host: 'here' });
    const told = await explainIssue(parts, '1', 'visitor');
    expect(failed(told)).toEqual([['free_elsewhere', 'left_by_previous_daemon']]);
    expect(told.nextCode).toBe('waits');
    const shared = { ...parts, isShared: true };
    const another = { reason: { code: 'claimed_elsewhere' }, nextCode: 'waits', next: telling('(here)') };
    expect(await explainIssue(shared, '1', 'visitor')).toMatchObject(another);
    expect(await explainIssue(parts, '1', 'daemon')).toMatchObject(another);
  });

  it('names the command that ends a pause, and none for a drain', async () => {
    const { pause, explain } = await given({ issues: [issue({ id: '1' })] });
    pause.set('pause', 'lunch', 'c');
    const paused = { reason: { code: 'paused' }, nextCode: 'waits' };
    expect(await explain('1')).toMatchObject({ ...paused, next: telling('lunch', 'baton resume') });
    pause.set('drain', 'update', 'c');
    const draining = await explain('1');
    expect(draining).toMatchObject({ ...paused, next: telling('update') });
    expect(draining.next).not.toContain('baton resume');
  });

  it('names the command that continues a held issue, once', async () => {
    const { hold, explain } = await given({ issues: [issue({ id: '1' }), issue({ id: '2' })] });
    hold('1');
    hold('2', { reason: 'A limit is reached. To go on: baton issue retry T-2' });
    expect(await explain('1')).toMatchObject({
      nextCode: 'held',
      next: telling('a question', 'baton issue retry T-1'),
    });
    const named = await explain('2');
    expect(named).toMatchObject({ nextCode: 'held', next: telling('A limit is reached. To go on') });
    expect(named.next.match(/baton issue retry T-2/g)).toHaveLength(1);
  });

  it('reports a reached limit of the issue before a run is tried', async () => {
    const { store, project, explain } = await given({
      issues: [issue({ id: '1' })],
      settings: settings({ limits: { tokensPerIssue: 100 } }),
    });
    await store.counters.add({ project, issueId: '1' }, 'tokens', 99);
    expect((await explain('1')).reason).toBeNull();
    await store.counters.add({ project, issueId: '1' }, 'tokens', 1);
    expect(await explain('1')).toMatchObject({
      reason: { code: 'limit_reached' },
      nextCode: 'waits',
      next: telling(100, 'limits.tokens_per_issue'),
    });
  });

  it('says when an issue is retried, and what would prevent it then', async () => {
    const one = issue({ id: '1' });
    const { claims, pause, retry, explain } = await given({ issues: [one] });
    retry('1');
    const due = '2026-01-01 00:01:00Z';
    expect(await explain('1')).toMatchObject({ nextCode: 'retry_scheduled', next: telling(due) });
    pause.set('pause', 'lunch', 'c');
    expect(await explain('1')).toMatchObject({ nextCode: 'retry_obstructed', next: telling(due, 'lunch') });
    const retrying = claims.retrying.get('1') ?? expect.fail('no retry');
    claims.postpone(retrying, { delayMs: 1, why: { code: 'project_full', text: 'no slot (1 of 1)' } });
    expect(await explain('1')).toMatchObject({ nextCode: 'retry_waits', next: telling('no slot (1 of 1)') });
  });

  it('counts the issues that start before it and take the free slots', async () => {
    const { explain } = await given({
      issues: [issue({ id: '1', createdAt: 2 }), issue({ id: '2', createdAt: 1 }), issue({ id: '3', priority: 1 })],
      settings: settings({ agent: { maxConcurrentAgents: 2 } }),
    });
    expect(await explain('1')).toMatchObject({
      reason: { code: 'project_full' },
      startsBefore: 2,
      nextCode: 'waits',
    });
    expect(await explain('3')).toMatchObject({ reason: null, startsBefore: 0 });
  });

  // @conforms 4.118, 4.116, 4.117
  it.each([
    { taken: { project: 1, shared: 0 }, limit: 1, byState: {}, reason: 'project_full', all: ['project_full'] },
    { taken: { project: 0, shared: 1 }, limit: 2, byState: {}, reason: 'global_full', all: ['global_full'] },
    { taken: { project: 1, shared: 0 }, limit: 2, byState: { todo: 1 }, reason: 'state_full', all: ['state_full'] },
    {
      taken: { project: 1, shared: 1 },
      limit: 1,
      byState: { todo: 1 },
      reason: 'project_full',
      all: ['project_full', 'state_full', 'global_full'],
    },
  ])('tells apart which limit is reached: $all', async ({ taken, limit, byState, reason, all }) => {
    const { parts, run, source } = await given({
      issues: [issue({ id: '1' }), issue({ id: '2' })],
      settings: settings({ agent: { maxConcurrentAgents: limit, maxConcurrentAgentsByState: byState } }),
    });
    if (taken.project > 0) await run('2', source.read().workflow);
    const pool = createSlotPool(() => 1);
    if (taken.shared > 0) pool.join({ wake: () => {} }).take();
    const told = await explainIssue({ ...parts, pool: pool.join({ wake: () => {} }) }, '1');
    expect([told.reason?.code, failed(told).map(([, code]) => code)]).toEqual([reason, all]);
  });

  it('names the issues that have the slots', async () => {
    const { run, source, explain } = await given({
      issues: [issue({ id: '1' }), issue({ id: '2' })],
      settings: settings({ agent: { maxConcurrentAgents: 1 } }),
    });
    await run('2', source.read().workflow);
    expect(await explain('1')).toMatchObject({ reason: { code: 'project_full' }, next: telling('T-2') });
  });

  it('uses the candidates of the last poll, and the current record of the issue', async () => {
    const { candidates, wanted, tracker, explain } = await given({ issues: [issue({ id: '1' }), issue({ id: '2' })] });
    candidates.takeIn(wanted, [issue({ id: '1' })]);
    tracker.put(issue({ id: '1', state: 'Done' }));
    expect(await explain('T-1')).toMatchObject({ issue: { state: 'Done' }, reason: { code: 'terminal_state' } });
    // Filed after the poll.
    expect(await explain('T-2')).toMatchObject({ reason: null, startsBefore: 1 });
  });

  it.each([
    ['Backlog', 'inactive_state'],
    ['Done', 'terminal_state'],
  ])('works for an issue in %s, which is not a candidate', async (state, code) => {
    const { explain } = await given({ issues: [issue({ id: '1', state })] });
    expect(await explain('1')).toMatchObject({
      reason: { code },
      nextCode: 'needs_change',
      next: telling(`"${state}"`),
    });
  });

  it('finds a finished issue by the name under which it ran', async () => {
    const { store, project, explain } = await given({ issues: [issue({ id: '1', state: 'Done' })] });
    await expect(explain('t-1')).rejects.toMatchObject({ code: 'tracker_issue_not_found' });
    await store.runs.start({
      runId: 'r',
      project,
      issueId: '1',
      identifier: 'T-1',
      generation: 1,
      role: 'worker',
      attempt: null,
      retryKind: null,
      backend: 'rehearsal',
      account: null,
      host: 'here',
      startedAt: 0,
    });
    expect(await explain('t-1')).toMatchObject({ issue: { id: '1' } });
  });

  it('is refused for an unknown issue, and for one that the tracker lost', async () => {
    const { clock, hold, tracker, explain } = await given({ issues: [issue({ id: '1' })] });
    for (const name of ['', '  ', 'T-9', '__proto__', '\u001b[2J', 'x'.repeat(5_000)])
      await expect(explain(name)).rejects.toMatchObject({ code: 'tracker_issue_not_found' });
    hold('1');
    tracker.remove('1');
    await clock.advance(1);
    await expect(explain('T-1')).rejects.toMatchObject({ code: 'tracker_issue_not_found' });
  });

  // @conforms spec-11.1b
  it('rejects when the tracker does not answer, and does not call the issue unknown', async () => {
    const { tracker, explain } = await given({ issues: [issue({ id: '1' })] });
    tracker.fetchByIds = async () => {
      throw new Error('no route');
    };
    await expect(explain('1')).rejects.toMatchObject({ code: 'tracker_request' });
  });

  // @conforms tick.14
  it('changes nothing', async () => {
    const { claims, hold, explain } = await given({ issues: [issue({ id: '1' }), issue({ id: '2' })] });
    hold('2');
    const before = structuredClone([...claims.all]);
    await explain('1');
    await explain('2');
    expect([...claims.all]).toEqual(before);
  });
});
