import { expect } from 'vitest';
import { boardWorkflow, stopDaemon } from '../cli/live-daemon.ts';
import { Place, type RunningBaton } from '../cli/run-baton.ts';
import { startLive, statusNow } from './fault-daemon.ts';
import { fileIssues } from './file-issues.ts';
import { patiently } from './patience.ts';
import { leftIn, type ProcessWatch, watchProcesses } from './process-watch.ts';
import { type Row, readStore } from './store-file.ts';

/** A daemon on a board with a bad issue and a good one, watched from outside. */
export class NastyScene implements Disposable {
  readonly place = new Place();
  readonly watch: ProcessWatch = watchProcesses(this.place.folder);
  readonly nasty = 'BAT-1';
  readonly good = 'BAT-2';
  #daemon: RunningBaton | null = null;

  /** The limit of runs for both issues together, because the command agent does not move its issue. */
  async start(script: string, settings: readonly string[] = [], runs = 2): Promise<RunningBaton> {
    this.place.write('WORKFLOW.md', nastyWorkflow(settings));
    await fileIssues(this.place, [script, 'echo good > good.txt']);
    this.#daemon = await startLive(this.place, '--max-runs', String(runs));
    return this.#daemon;
  }

  /** The first `count` runs of the bad issue, when they have ended. */
  async ended(count = 1): Promise<Row[]> {
    const ofNasty = `select * from runs where identifier = '${this.nasty}' and ended_at is not null order by started_at`;
    await patiently(() => {
      expect(readStore(this.place, ofNasty).length, this.#daemon?.stderr()).toBeGreaterThanOrEqual(count);
    });
    return readStore(this.place, ofNasty).slice(0, count);
  }

  /** The daemon answers without errors, the good issue was worked on, no issue had two agents, and no process is left. */
  async check(): Promise<void> {
    const daemon = this.#daemon ?? expect.fail('the daemon was started');
    expect(await statusNow(this.place)).toMatchObject({ errors: [], workflow_problem: null });
    await patiently(() => expect(this.place.read(`workspaces/${this.good}/good.txt`)).toBe('good\n'));
    await stopDaemon(daemon);
    expect(this.watch.overlaps).toEqual([]);
    expect(leftIn(this.place.folder)).toEqual([]);
    expect(readStore(this.place, 'select run_id from runs where ended_at is null')).toEqual([]);
  }

  [Symbol.dispose](): void {
    this.watch[Symbol.dispose]();
    this.place[Symbol.dispose]();
  }
}

function nastyWorkflow(settings: readonly string[]): string {
  const quick = ['  max_retry_backoff_ms: 1500', ...settings.filter((line) => line.startsWith('  '))];
  const agent = [
    'agent:',
    '  backend: command',
    '  command: "cat > work.sh; exec sh work.sh"',
    '  isolation_write: [.]',
    ...quick,
  ];
  const sections = settings.filter((line) => !line.startsWith('  '));
  return boardWorkflow()
    .replace('polling: {interval_ms: 3600000}', 'polling: {interval_ms: 200}')
    .replace(/^agent: .*$/m, [...agent, ...sections].join('\n'));
}
