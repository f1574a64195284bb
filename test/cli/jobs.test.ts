import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { jobNames } from '../../src/core/cadence/job-catalogue.ts';
import type { ReadModel } from '../../src/orchestrator/view/read-model.ts';
import type { ApiProject } from '../../src/server/api/api-project.ts';
import { presentJobs } from '../../src/server/api/present/present-job.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { JobTimer } from '../../src/store/tables/job-timers.ts';
import { fakeDaemon } from '../fake/fake-daemon.ts';
import { settings } from '../fake/settings.ts';
import { begun } from '../orchestrator/scene.ts';
import { batonHere, daemonHere } from './baton-here.ts';
import { answer, boardWorkflow, liveTest, stateFolderOf } from './live-daemon.ts';
import { leaveNoPlaces, Place } from './run-baton.ts';

leaveNoPlaces();

const me = '11111111-mine';
const timer: JobTimer = {
  project: 'live',
  job: 'stall_check',
  owner: me,
  lastRunAt: 5_000,
  nextDueAt: 10_000,
  outcome: 'ok',
  durationMs: 12,
  failures: 0,
  error: null,
};

describe('the job rows', () => {
  const { polling } = settings();
  interface Facts {
    readonly timers: readonly JobTimer[];
    readonly owner: string | null;
    readonly polling: typeof polling;
    readonly daemonJobs: ReadModel['jobs'];
  }
  const rowsFor = async (changes: Partial<Facts>) => {
    const facts: Facts = { timers: [], owner: me, polling, daemonJobs: [], ...changes };
    const { polling: pace } = (await begun()).orchestrator.read();
    return presentJobs({
      id: 'live',
      owner: facts.owner,
      polling: () => facts.polling,
      tables: { jobTimers: { list: async () => facts.timers } },
      read: () => ({ jobs: facts.daemonJobs, polling: pace }),
    });
  };
  const rowsOf = async (name: string, changes: Partial<Facts>) => {
    const { jobs, other_daemons } = await rowsFor(changes);
    return [...jobs, ...other_daemons].filter((row) => row.name === name);
  };

  it('have one row for each job in catalogue order, even if none has run', async () => {
    const { jobs } = await rowsFor({ timers: [{ ...timer, job: 'of_an_older_baton' }] });
    expect(jobs.map(({ name }) => name)).toEqual(jobNames);
    for (const row of jobs)
      expect(row).toMatchObject({ last_run_at: null, next_due_at: null, outcome: null, failures: 0 });
  });

  it('show the interval of the file, else of the catalogue, and for a poll that of its mode', async () => {
    const set = { ...polling, jobIntervalsMs: { stall_check: 777 } };
    expect(await rowsOf('stall_check', { polling: set })).toMatchObject([{ interval_ms: 777 }]);
    expect(await rowsOf('stall_check', {})).toMatchObject([{ interval_ms: 5_000 }]);
    expect(await rowsOf('tracker_poll', {})).toMatchObject([{ interval_ms: 30_000 }]);
    const adaptive = { ...polling, mode: 'adaptive' as const };
    expect(await rowsOf('tracker_poll', { polling: adaptive })).toMatchObject([{ interval_ms: null }]);
  });

  it('belong to this daemon or to all, with one more row for each other daemon', async () => {
    const [shared, other] = [
      { ...timer, owner: '' },
      { ...timer, owner: 'other', failures: 3 },
    ];
    expect(await rowsOf('stall_check', { timers: [shared] })).toMatchObject([{ owner: '' }]);
    expect(await rowsOf('stall_check', { timers: [shared, timer, other] })).toMatchObject([
      { owner: me, failures: 0 },
      { owner: 'other', failures: 3 },
    ]);
    // Of this one nothing is known yet, or none ever was.
    expect(await rowsOf('stall_check', { timers: [other] })).toMatchObject([{ owner: null }, { owner: 'other' }]);
    expect(await rowsOf('stall_check', { timers: [timer, other], owner: null })).toMatchObject([
      { owner: null },
      { owner: me },
      { owner: 'other' },
    ]);
  });

  it('prefer the answer of the daemon to the store', async () => {
    const told: ReadModel['jobs'][number] = {
      name: 'stall_check',
      kind: 'local',
      intervalMs: 4_000,
      isRunning: true,
      outcome: 'failed',
      lateMs: 0,
      durationMs: 3,
      failures: 2,
      error: 'no',
      lastRunAt: 9_000,
      nextDueAt: Number.NaN,
    };
    expect(await rowsOf('stall_check', { timers: [timer], daemonJobs: [told] })).toMatchObject([
      {
        name: 'stall_check',
        kind: 'local',
        interval_ms: 4_000,
        owner: me,
        is_running: true,
        outcome: 'failed',
        last_run_at: '1970-01-01T00:00:09.000Z',
        duration_ms: 3,
        failures: 2,
        error: 'no',
        next_due_at: null,
      },
    ]);
    expect(await rowsOf('queue_health', { daemonJobs: [told] })).toMatchObject([
      { is_running: null, last_run_at: null },
    ]);
  });
});

async function remember(place: Place, ...timers: readonly JobTimer[]): Promise<void> {
  const url = `sqlite:${path.join(stateFolderOf(place), 'baton.db')}`;
  await using store = await openStore({ url, clock: systemClock, mode: 'visitor' });
  const { id: project } = await store.projects.ensure('live', 0);
  for (const each of timers) await store.jobTimers.put({ ...each, project });
}

/** A place whose store is there, and in whose state folder a daemon has been. */
async function workplace(): Promise<Place> {
  const place = new Place();
  place.write('WORKFLOW.md', boardWorkflow());
  await answer(place, 'jobs');
  mkdirSync(stateFolderOf(place), { recursive: true });
  writeFileSync(path.join(stateFolderOf(place), 'daemon-id'), `${me}\n${'0'.repeat(24)}\n`);
  return place;
}

interface Listed {
  readonly name: string;
  readonly [key: string]: unknown;
}

const listed = async (place: Place): Promise<readonly Listed[]> => (await answer(place, 'jobs')).jobs;

describe.concurrent('baton jobs', liveTest, () => {
  it('lists every job of a Baton that never ran', async () => {
    using place = new Place();
    place.write('WORKFLOW.md', boardWorkflow());
    const told = await answer(place, 'jobs');
    expect(told).toMatchObject({ daemon: false, polling_mode: 'fixed' });
    expect(told.jobs.map(({ name }: Listed) => name)).toEqual(jobNames);
    const { code, stdout, stderr } = await batonHere(place, 'jobs');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^tracker_poll +remote +1 h \(fixed\) +\S+ +- +- +0 +-$/m);
    expect(stdout).toMatch(/^pruning +remote +24 h /m);
    // Below the table it is said that no daemon answers.
    expect(stdout.split('\n\n')).toHaveLength(2);
  });

  // @conforms cadence.8
  it('shows the results and due times from the store alone, and the reason below a failed job', async () => {
    using place = await workplace();
    const now = systemClock.now();
    const error = 'the tracker is down\u001b[2J\u202e';
    await remember(
      place,
      { ...timer, lastRunAt: now - 90_500, nextDueAt: now + 3_600_500 },
      { ...timer, job: 'queue_health', owner: '', lastRunAt: now - 500, nextDueAt: now - 7_200_500 },
      { ...timer, job: 'tracker_poll', outcome: 'failed', failures: 1_200, error, lastRunAt: now - 5_500 },
    );
    const rows = new Map((await listed(place)).map((row) => [row.name, row]));
    expect(rows.size).toBe(jobNames.length);
    expect(rows.get('stall_check')).toEqual({
      name: 'stall_check',
      kind: 'local',
      description: expect.any(String),
      interval_ms: 5_000,
      owner: me,
      is_own: true,
      is_running: null,
      late_ms: 0,
      last_run_at: new Date(now - 90_500).toISOString(),
      outcome: 'ok',
      duration_ms: 12,
      failures: 0,
      error: null,
      next_due_at: new Date(now + 3_600_500).toISOString(),
    });
    expect(rows.get('tracker_poll')).toMatchObject({ outcome: 'failed', failures: 1_200, error });
    const { stdout } = await batonHere(place, 'jobs');
    expect(stdout).toMatch(/^stall_check +local +5 s +1 min 3\d s .* ok +12 ms +0 .*(1 h|59 min \d+ s)$/m);
    expect(stdout).toMatch(/^queue_health +local +30 min .* ok +12 ms +0 .* 2 h$/m);
    expect(stdout).toMatch(/^tracker_poll .* failed +12 ms +1,200 .*\n {2}the tracker is down\S+$/m);
    // Of one daemon no column tells.
    expect(stdout).not.toContain(me.slice(0, 8));
  });

  it('distinguishes the daemons on one store', async () => {
    using place = await workplace();
    const other = '22222222-2222-theirs';
    await remember(place, timer, { ...timer, owner: other }, { ...timer, job: 'queue_health', owner: '' });
    const rows = (await listed(place)).filter(({ name }) => name === 'stall_check');
    expect(rows).toMatchObject([
      { owner: me, is_own: true },
      { owner: other, is_own: false },
    ]);
    const { stdout } = await batonHere(place, 'jobs');
    expect(stdout).toMatch(/^stall_check .* 11111111 \(\S+\)$/m);
    expect(stdout).toMatch(/^stall_check .* 22222222$/m);
  });

  it('prefers a running daemon, also when the workflow file is invalid by now', async () => {
    using place = await workplace();
    const job: ReadModel['jobs'][number] = {
      name: 'tracker_poll',
      kind: 'remote',
      intervalMs: 300_000,
      isRunning: true,
      lastRunAt: null,
      lateMs: 0,
      outcome: null,
      durationMs: null,
      failures: 0,
      error: null,
      nextDueAt: null,
    };
    const model = (await begun()).orchestrator.read();
    await using socket = await fakeDaemon(path.join(stateFolderOf(place), 'baton.sock'), {
      owner: me,
      polling: () => settings().polling,
      read: () => ({ ...model, jobs: [job], polling: { ...model.polling, mode: 'dormant' } }),
      // Of the store it asks for the timers alone.
      tables: { jobTimers: { list: async () => [] } } as unknown as ApiProject['tables'],
    });
    expect(socket).toBeDefined();
    for (const text of [boardWorkflow(), '---\npolling: {interval_ms: never}\n---\n']) {
      place.replace('WORKFLOW.md', text);
      expect(await answer(place, 'jobs')).toMatchObject({ daemon: true, polling_mode: 'dormant' });
      const { stdout } = await batonHere(place, 'jobs');
      expect(stdout).toMatch(/^tracker_poll +remote +5 min \(dormant\) +\S+ +running/m);
      expect(stdout.split('\n\n')).toHaveLength(1);
    }
  });

  it('fails when the workflow file is invalid and no daemon answers', async () => {
    using place = await workplace();
    place.replace('WORKFLOW.md', '---\npolling: {interval_ms: never}\n---\n');
    const { code, stdout } = await batonHere(place, 'jobs', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout).error).toMatchObject({ code: 'invalid_workflow_config' });
  });

  it('works next to a running daemon, with every job', async () => {
    using place = new Place();
    place.write('WORKFLOW.md', boardWorkflow());
    const daemon = await daemonHere(place);
    const told = await answer(place, 'jobs');
    expect(told.daemon).toBe(true);
    expect(told.jobs.map(({ name }: Listed) => name)).toEqual(jobNames);
    await daemon.stop();
  });
});
