import path from 'node:path';
import { expect } from 'vitest';
import { builtProgram } from '../built-baton.ts';
import { stopDaemon } from '../cli/live-daemon.ts';
import { Place, type RunningBaton } from '../cli/run-baton.ts';
import { withoutNamespaces } from '../fake/without-namespaces.ts';
import { statusNow } from './fault-daemon.ts';
import { copyIssues, workScript } from './file-issues.ts';
import { checkJournal, type JournalLine, layOutJournal, readJournal } from './journal.ts';
import { patiently } from './patience.ts';
import { leftIn, type ProcessWatch, watchProcesses } from './process-watch.ts';
import { type Row, readStore } from './store-file.ts';

/** The environment of a daemon whose agents survive it: neither they themselves nor the kernel end them. */
export const stubborn = {
  ...withoutNamespaces,
  NODE_OPTIONS: `--import ${builtProgram('fault/stubborn-agent')}`,
};

/** A board whose agents keep a journal, with a watch on the process table for the whole test. */
export class FaultScene implements Disposable {
  readonly place = new Place(stubborn);
  readonly agents = path.join(this.place.folder, 'agents');
  readonly workspaces = path.join(this.place.folder, 'workspaces');
  readonly watch: ProcessWatch = watchProcesses(this.place.folder);
  /** How many there are. */
  issues = 0;

  constructor() {
    layOutJournal(this.agents);
    this.place.write('WORKFLOW.md', faultWorkflow());
  }

  /** Files `count` issues, all with this description. */
  async file(count: number, description = workScript()): Promise<void> {
    await copyIssues(this.place, faultWorkflow(), Array(count).fill(description));
    this.issues = count;
  }

  /** Lets waiting agents continue. */
  letWork(): void {
    this.place.write('agents/go', '');
  }

  journal(): JournalLine[] {
    return readJournal(this.agents);
  }

  query(statement: string): Row[] {
    return readStore(this.place, statement);
  }

  /** Waits until every issue is in review and nothing is in progress. */
  async untilThrough(daemon: RunningBaton): Promise<void> {
    await patiently(() => {
      const statuses = this.query('select status from board_issues').map(({ status }) => status);
      expect(statuses, daemon.stderr()).toEqual(Array(this.issues).fill('review'));
      expect(this.query('select run_id from runs where ended_at is null'), daemon.stderr()).toEqual([]);
    });
  }

  /** Checks what must hold at the end after this number of kills, and stops the last daemon. */
  async check(daemon: RunningBaton, kills: number): Promise<void> {
    await patiently(async () => {
      const nothing = { running: 0, retrying: 0, held: 0 };
      expect(await statusNow(this.place), daemon.stderr()).toMatchObject({ counts: nothing, errors: [] });
    });
    await stopDaemon(daemon);
    const runs = this.query('select run_id, issue_id, outcome, error_code, error_message, ended_at from runs');
    this.#checkRuns(runs, kills, daemon);
    checkJournal(this, runs);
    expect(this.watch.overlaps).toEqual([]);
    expect(this.watch.looks).toBeGreaterThan(10);
    expect(this.watch.mostRuns).toBeGreaterThan(0);
    expect(leftIn(this.place.folder)).toEqual([]);
    expect(this.query('pragma integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    expect(this.query('pragma foreign_key_check')).toEqual([]);
  }

  /** Each issue has at most one successful run; all its other runs were interrupted by a kill. */
  #checkRuns(runs: readonly Row[], kills: number, daemon: RunningBaton): void {
    const ofIssue = Map.groupBy(runs, (run) => run.issue_id);
    expect(ofIssue.size).toBe(this.issues);
    for (const own of ofIssue.values()) {
      const [interrupted = [], others = []] = [true, false].map((wanted) =>
        own.filter(({ outcome }) => (outcome === 'interrupted') === wanted),
      );
      expect(interrupted.length).toBeLessThanOrEqual(kills);
      for (const { error_code } of interrupted)
        expect(['orchestrator_restarted', 'run_interrupted']).toContain(error_code);
      expect(others.length).toBeLessThanOrEqual(1);
      for (const run of others) {
        expect(run, daemon.stderr()).toMatchObject({ outcome: 'succeeded', error_code: null });
      }
      for (const run of own) expect(run.ended_at).toEqual(expect.any(Number));
    }
  }

  [Symbol.dispose](): void {
    this.watch[Symbol.dispose]();
    this.place[Symbol.dispose]();
  }
}

/** Two slots, so that one issue is interrupted while another waits; the hooks leave time for a kill. */
export function faultWorkflow(more = ''): string {
  return [
    '---',
    'project: {name: fault}',
    'tracker: {kind: board}',
    'polling: {interval_ms: 300}',
    'workspace: {root: workspaces}',
    'hooks: {after_create: "true after-create", after_run: "sleep 0.2; true after-run"}',
    'agent:',
    '  backend: rehearsal',
    '  isolation_write: [.]',
    '  env: [NODE_OPTIONS]',
    '  read_timeout_ms: 60000',
    '  max_concurrent_agents: 2',
    '  max_retry_backoff_ms: 500',
    ...more.split('\n').filter(Boolean),
    '---',
    '{{ issue.description }}',
  ].join('\n');
}
