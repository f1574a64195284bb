// @module-tag full
import { cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { addIssue, stateFolderOf, stopDaemon } from '../cli/live-daemon.ts';
import { leaveNoPlaces, Place, type RunningBaton } from '../cli/run-baton.ts';
import type { StoreEngine, StorePlace } from '../conformance/store.ts';
import { statusAt } from '../fake/ask-daemon.ts';
import { engines } from '../store/engines.ts';
import { type CutProxy, startCutProxy } from './cut-proxy.ts';
import { startLive, statusNow } from './fault-daemon.ts';
import { faultWorkflow, stubborn } from './fault-scene.ts';
import { fileIssues, gatedScript, workScript } from './file-issues.ts';
import { checkJournal, layOutJournal, readJournal } from './journal.ts';
import { faultTest, patiently } from './patience.ts';
import { leftIn, type ProcessWatch, watchProcesses } from './process-watch.ts';
import type { Row } from './store-file.ts';

leaveNoPlaces();

/** For tests that wait for it to end. A busy machine needs a third of it to renew a claim or to end a few processes. */
const shortLeaseMs = 12_000;
/** For tests in which it must not end, however busy the machine is. */
const longLeaseMs = 120_000;
const slots = 3;
const postgres: StoreEngine | undefined = engines.find(({ name }) => name === 'postgres');
const isMissing = postgres === undefined || postgres.missing !== null;

/** Two daemons with separate folders, and a common database, workspace root and journal. */
class Pair implements AsyncDisposable {
  static async lay(issue: string, issues: number, leaseMs: number): Promise<Pair> {
    const database = (await postgres?.place()) ?? expect.fail('PostgreSQL runs');
    const proxy = await startCutProxy(database.url);
    const pair = new Pair(database, proxy, issues, leaseMs);
    layOutJournal(pair.agents);
    await fileIssues(pair.one, Array(issues).fill(issue));
    return pair;
  }

  readonly one: Place;
  readonly other: Place;
  readonly agents: string;
  readonly workspaces: string;
  readonly watch: ProcessWatch;
  /** Between the first daemon and the database; the other connects directly. */
  readonly proxy: CutProxy;
  readonly #database: StorePlace;
  issues: number;

  private constructor(database: StorePlace, proxy: CutProxy, issues: number, leaseMs: number) {
    this.issues = issues;
    this.proxy = proxy;
    this.#database = database;
    this.one = new Place({ ...stubborn, BATON_DATABASE_URL: proxy.url });
    this.other = new Place({ ...stubborn, BATON_DATABASE_URL: database.url });
    this.agents = path.join(this.one.folder, 'agents');
    this.workspaces = path.join(this.one.folder, 'workspaces');
    this.watch = watchProcesses(this.one.folder, this.other.folder);
    const workflow = faultWorkflow(`store: {lease_ms: ${leaseMs}}`)
      .replace('root: workspaces', `root: ${this.workspaces}`)
      .replace('isolation_write: [.]', `isolation_write: [${this.one.folder}]`)
      .replace(/max_concurrent_agents: \d+/, `max_concurrent_agents: ${slots}`);
    for (const place of [this.one, this.other]) place.write('WORKFLOW.md', workflow);
  }

  query(statement: string): Promise<Row[]> {
    return this.#database.query(statement) as Promise<Row[]>;
  }

  /** Lets waiting agents continue. */
  letWork(): void {
    writeFileSync(path.join(this.agents, 'go'), '');
  }

  /** Resolves when agents of this place work. */
  async untilWorking(place: Place): Promise<void> {
    await patiently(() => {
      expect(readJournal(this.agents).some(({ act }) => act === 'start')).toBe(true);
      expect(leftIn(place.folder).some((each) => each.includes('rehearsal/program'))).toBe(true);
    });
  }

  /** Waits until every issue is in review and every run has ended. */
  async untilThrough(...daemons: RunningBaton[]): Promise<void> {
    await patiently(async () => {
      const statuses = (await this.query('select status from board_issues')).map(({ status }) => status);
      const said = daemons.map((daemon) => daemon.stderr()).join('\n');
      expect(statuses, said).toEqual(Array(this.issues).fill('review'));
      expect(await this.query('select run_id from runs where ended_at is null')).toEqual([]);
    });
  }

  runs(): Promise<Row[]> {
    return this.query('select run_id, issue_id, outcome, error_code, ended_at, generation from runs order by run_id');
  }

  /** Checks what must hold at the end. */
  async check(): Promise<void> {
    const runs = await this.runs();
    const well = runs.filter(({ outcome }) => outcome === 'succeeded').map(({ issue_id }) => issue_id);
    expect(new Set(well).size).toBe(well.length);
    checkJournal(this, runs);
    expect(this.watch.overlaps).toEqual([]);
    expect(this.watch.mostRuns).toBeLessThanOrEqual(slots);
    expect(this.watch.mostRuns).toBeGreaterThan(1);
    for (const place of [this.one, this.other]) expect(leftIn(place.folder)).toEqual([]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.watch[Symbol.dispose]();
    for (const place of [this.one, this.other]) place[Symbol.dispose]();
    await this.proxy[Symbol.asyncDispose]();
    await this.#database.remove();
  }
}

describe.skipIf(isMissing).concurrent('two daemons on one database', faultTest, () => {
  // @conforms fault.10
  it('share the issues: each has one agent, and slots count across both', async () => {
    await using pair = await Pair.lay(workScript(), 12, longLeaseMs);
    // Neither can take more than half, so both must work.
    const daemons = await both(pair, '--max-runs', '6');
    await pair.untilThrough(...daemons);
    for (const daemon of daemons) await stopDaemon(daemon);
    const runs = await pair.runs();
    expect(runs.map(({ outcome }) => outcome)).toEqual(Array(12).fill('succeeded'));
    await pair.check();
  });

  // @conforms fault.11
  it('take over for each other: a live one inherits the claims of a killed one when their lease ends', async () => {
    await using pair = await Pair.lay(gatedScript(), 4, shortLeaseMs);
    const doomed = await startLive(pair.one);
    await pair.untilWorking(pair.one);
    const heir = await startLive(pair.other);
    doomed.child.kill('SIGKILL');
    await doomed.ended;
    pair.letWork();
    const unended = (await pair.query('select run_id from runs where ended_at is null')).map(({ run_id }) => run_id);
    expect(unended.length).toBeGreaterThan(0);
    await pair.untilThrough();
    await stopDaemon(heir);
    const runs = await pair.runs();
    for (const runId of unended) {
      expect(runs).toContainEqual(expect.objectContaining({ run_id: runId, outcome: 'interrupted' }));
    }
    await pair.check();
  });

  // @conforms fault.12
  it('one that was frozen past its lease writes nothing when it resumes, and its agents are gone', async () => {
    await using pair = await Pair.lay(gatedScript(), 4, shortLeaseMs);
    const frozen = await startLive(pair.one);
    await pair.untilWorking(pair.one);
    const heir = await startLive(pair.other);
    frozen.child.kill('SIGSTOP');
    const had = (await pair.query('select run_id from runs where ended_at is null')).map(({ run_id }) => run_id);
    expect(had.length).toBeGreaterThan(0);
    pair.letWork();
    await pair.untilThrough();
    const before = await pair.runs();
    frozen.child.kill('SIGCONT');
    await patiently(() =>
      expect(leftIn(pair.one.folder).filter((each) => each.includes('rehearsal/program'))).toEqual([]),
    );
    // It has had time for its last writes, and reports no running agents.
    await patiently(async () => expect((await statusNow(pair.one)).running).toEqual([]));
    await stopDaemon(frozen);
    expect(await pair.runs()).toEqual(before);
    for (const runId of had) {
      expect(before).toContainEqual(expect.objectContaining({ run_id: runId, outcome: 'interrupted' }));
    }
    await stopDaemon(heir);
    await pair.check();
  });

  // @conforms fault.13
  it('one that loses the database ends its agents before its lease expires, and continues when the database is back', async () => {
    await using pair = await Pair.lay(gatedScript(), 2, shortLeaseMs);
    const cutOff = await startLive(pair.one);
    await patiently(() => expect(readJournal(pair.agents).filter(({ act }) => act === 'start')).toHaveLength(2));
    const heir = await startLive(pair.other);
    pair.proxy.cut();
    const leases = await pair.query('select issue_id, owner, lease_until from claims where owner is not null');
    expect(leases).toHaveLength(2);
    const had = (await pair.query('select run_id from runs where ended_at is null')).map(({ run_id }) =>
      String(run_id),
    );
    expect(had).toHaveLength(2);

    const goneAt = (runId: string): number | null | undefined => pair.watch.lives.get(runId)?.goneAt;
    await patiently(() => {
      for (const runId of had) expect(goneAt(runId), cutOff.stderr()).toEqual(expect.any(Number));
    });
    for (const runId of had) {
      const { issueId, home } = pair.watch.lives.get(runId) ?? expect.fail('it was seen');
      expect(home).toBe(pair.one.home);
      const lease = leases.find(({ issue_id }) => issue_id === issueId);
      // The database is on this machine, so its clock is also that of the watch.
      expect(goneAt(runId)).toBeLessThan(Number(lease?.lease_until));
    }
    // The other one inherits when the lease ends, not before.
    await patiently(() => {
      const next = [...pair.watch.lives.values()].filter(({ home }) => home === pair.other.home);
      expect(new Set(next.map(({ issueId }) => issueId)).size, heir.stderr()).toBe(2);
      for (const { issueId, firstSeenAt } of next) {
        const lease = leases.find(({ issue_id }) => issue_id === issueId);
        expect(firstSeenAt).toBeGreaterThan(Number(lease?.lease_until));
      }
    });
    const interrupted = expect.objectContaining({ outcome: 'interrupted' });
    await patiently(async () => {
      const runs = (await pair.runs()).filter(({ run_id }) => had.includes(String(run_id)));
      expect(runs).toEqual([interrupted, interrupted]);
    });
    const before = (await pair.runs()).filter(({ run_id }) => had.includes(String(run_id)));

    pair.proxy.heal();
    // It has noticed who owns the issues, and leaves them alone.
    await patiently(async () => expect((await statusNow(pair.one)).counts).toMatchObject({ running: 0, retrying: 0 }));
    expect((await pair.runs()).filter(({ run_id }) => had.includes(String(run_id)))).toEqual(before);
    pair.letWork();
    await pair.untilThrough();
    await stopDaemon(heir);
    // Alone again, it works as before.
    await addIssue(pair.other, workScript(100));
    pair.issues += 1;
    await pair.untilThrough();
    await stopDaemon(cutOff);
    await pair.check();
  });

  // @conforms fault.14
  it('one in a copy of the other state folder is a separate daemon, and leaves the agents of the other alone', async () => {
    await using pair = await Pair.lay(gatedScript(), 2, longLeaseMs);
    const original = await startLive(pair.one);
    await patiently(() => expect(readJournal(pair.agents).filter(({ act }) => act === 'start')).toHaveLength(2));
    cpSync(stateFolderOf(pair.one), path.join(pair.one.folder, 'copy'), {
      recursive: true,
      filter: (file) => !file.endsWith('.sock'),
    });
    const copy = await startLive(pair.one, '--state-dir', 'copy');
    expect(copy.stderr()).toContain('"event":"daemon_id_replaced"');
    // It has ended its own old processes, has read the issues, and leaves them alone.
    await patiently(async () => {
      const answered = await statusAt(path.join(pair.one.folder, 'copy', 'baton.sock'));
      const skipped = [{ code: 'claimed_elsewhere' }, { code: 'claimed_elsewhere' }];
      expect(answered).toMatchObject({ counts: { running: 0, retrying: 0 }, skipped });
    });
    expect(pair.watch.lives.size).toBe(2);
    for (const { goneAt } of pair.watch.lives.values()) expect(goneAt).toBeNull();
    pair.letWork();
    await pair.untilThrough();
    for (const daemon of [copy, original]) await stopDaemon(daemon);
    expect((await pair.runs()).map(({ outcome }) => outcome)).toEqual(['succeeded', 'succeeded']);
    await pair.check();
  });
});

function both({ one, other }: Pair, ...flags: string[]): Promise<RunningBaton[]> {
  return Promise.all([one, other].map((place) => startLive(place, ...flags)));
}
