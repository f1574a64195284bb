import { readFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sleep } from '../src/clock/clock.ts';
import { systemClock } from '../src/clock/system-clock.ts';
import { openStore } from '../src/store/open-store.ts';
import { daemonAt } from '../test/fake/ask-daemon.ts';
import { fillBoard, fillPhases } from './board.ts';
import { type BuiltBaton, buildBaton } from './built-baton.ts';
import { LiveDaemon } from './live-daemon.ts';
import { percentile } from './measure.ts';
import { type Figure, ratioOf } from './report.ts';
import { Scratch } from './scratch.ts';

const active = 10_000;
const all = 100_000;
const pages = 40;
/** As many as the dashboard asks for in each column. */
const issuesAPage = 50;
const settleMs = 5_000;
const betweenMs = 250;

/**
 * The published `baton start` on a board with many issues, one agent that never ends in the only slot, and a poll every
 * second: how long a tick, a poll and a page of the board take. Compared with a board that has the active issues only.
 */
export async function benchLargeBoard(): Promise<readonly Figure[]> {
  using built = await buildBaton();
  const small = await watchBoard(built, active);
  const large = await watchBoard(built, all);
  const name = `a board of ${all.toLocaleString('en')} issues, ${active.toLocaleString('en')} of them active`;
  const figure = (what: string, pick: (seen: Seen) => readonly number[], aim: string | null): Figure => {
    const [seen, base] = [pick(large), pick(small)];
    const without = percentile(base, 0.5);
    return {
      what: `${what}, ${name}, median of ${seen.length}`,
      seen: `${percentile(seen, 0.5).toFixed(1)} ms (longest ${Math.max(...seen).toFixed(1)})`,
      aim,
      ratio: ratioOf(percentile(seen, 0.5), without, `a board with the active ones only (${without.toFixed(1)} ms)`),
    };
  };
  return [
    figure('a tick', ({ ticks }) => ticks, '50 ms'),
    // The store has not every run of a job: often only the first poll, which reads all active issues.
    figure('a poll that the store has, from its start until its candidates are known', ({ polls }) => polls, null),
    figure('a page of the board over the socket', ({ pages: took }) => took, '50 ms'),
    {
      what: `the longest delay of the event loop during this, ${name}`,
      seen: `${large.delayMaxMs.toFixed(0)} ms (p99 ${large.delayP99Ms.toFixed(1)})`,
      aim: null,
      ratio: ratioOf(
        large.delayMaxMs,
        small.delayMaxMs,
        `a board with the active ones only (${small.delayMaxMs.toFixed(0)} ms)`,
      ),
    },
    {
      what: `share of one core that the daemon used during this, ${name}`,
      seen: `${large.sharePercent.toFixed(0)} %, ${large.rssMb.toFixed(0)} MB`,
      aim: null,
      ratio: `${small.sharePercent.toFixed(0)} %, ${small.rssMb.toFixed(0)} MB with the active ones only`,
    },
  ];
}

/**
 * The same with a pipeline, and every active issue in its first phase: how long a tick takes. Compared with a board that has
 * the active issues only, and with one that has half of them.
 */
export async function benchPhasedBoard(): Promise<readonly Figure[]> {
  using built = await buildBaton();
  const half = await watchBoard(built, active / 2, { inPhases: active / 2 });
  const small = await watchBoard(built, active, { inPhases: active });
  const large = await watchBoard(built, all, { inPhases: active });
  const name = `a board of ${all.toLocaleString('en')} issues, ${active.toLocaleString('en')} of them active and in a phase`;
  const [ticks, others, fewer] = [large.ticks, small.ticks, half.ticks].map((each) => percentile(each, 0.5));
  const ms = (given = 0): string => `${given.toFixed(1)} ms`;
  return [
    {
      what: `a tick, ${name}, median of ${large.ticks.length}`,
      seen: `${ms(ticks)} (longest ${Math.max(...large.ticks).toFixed(1)})`,
      aim: '50 ms',
      ratio: ratioOf(ticks ?? 0, others ?? 0, `a board with the active ones only (${ms(others)})`),
    },
    {
      what: `a tick, a board with only these active ones, median of ${small.ticks.length}`,
      seen: `${ms(others)} (longest ${Math.max(...small.ticks).toFixed(1)})`,
      aim: '50 ms',
      ratio: ratioOf(
        others ?? 0,
        fewer ?? 0,
        `half of them (${ms(fewer)}, longest ${Math.max(...half.ticks).toFixed(1)})`,
      ),
    },
    {
      what: `the longest delay of the event loop during this, ${name}`,
      seen: `${large.delayMaxMs.toFixed(0)} ms (p99 ${large.delayP99Ms.toFixed(1)})`,
      aim: null,
      ratio: ratioOf(
        large.delayMaxMs,
        small.delayMaxMs,
        `a board with the active ones only (${small.delayMaxMs.toFixed(0)} ms)`,
      ),
    },
  ];
}

interface Seen {
  readonly ticks: readonly number[];
  readonly polls: readonly number[];
  readonly pages: readonly number[];
  readonly delayMaxMs: number;
  readonly delayP99Ms: number;
  readonly sharePercent: number;
  readonly rssMb: number;
}

interface BoardOptions {
  /** How many of the issues are in a phase; absent: there is no pipeline. */
  readonly inPhases?: number;
}

async function watchBoard(built: BuiltBaton, issues: number, { inPhases }: BoardOptions = {}): Promise<Seen> {
  using scratch = new Scratch();
  const stateDir = path.join(scratch.folder, 'state');
  const url = `sqlite:${stateDir}/baton.db`;
  const store = await openStore({ url, clock: systemClock, mode: 'daemon' });
  const { id } = await store.projects.ensure('bench', systemClock.now());
  await store.close();
  await fillBoard(url, id, issues, active);
  if (inPhases !== undefined) fillPhases(path.join(stateDir, 'baton.db'), id, 'research', inPhases);
  const settings = {
    project: { name: 'bench' },
    tracker: { kind: 'board' },
    polling: { interval_ms: 1_000 },
    workspace: { root: 'workspaces' },
    agent: { backend: 'command', command: 'sleep 600', isolation: 'none', max_concurrent_agents: 1 },
    ...(inPhases === undefined ? {} : { pipeline: { phases: [{ name: 'research' }, { name: 'grooming' }] } }),
  };
  const workflow = scratch.write('WORKFLOW.md', `---\n${JSON.stringify(settings)}\n---\nWork.\n`);
  await using daemon = new LiveDaemon(built, workflow, scratch.folder);
  await daemon.until(async () => (await daemon.running()) === 1, 'no agent ran');
  await sleep(systemClock, settleMs);
  await daemon.report();
  const project = await daemonAt(path.join(stateDir, 'baton.sock'));
  const database = new DatabaseSync(path.join(stateDir, 'baton.db'), { timeout: 5_000, readOnly: true });
  const poll = database.prepare("select last_run_at, duration_ms from job_timers where job = 'tracker_poll'");
  const [ticks, polls, took]: [Map<number, number>, Map<number, number>, number[]] = [new Map(), new Map(), []];
  for (let page = 0; page < pages; page += 1) {
    await sleep(systemClock, betweenMs);
    const began = performance.now();
    await project.board(issuesAPage);
    took.push(performance.now() - began);
    const { tick } = JSON.parse(readFileSync(path.join(stateDir, 'health.json'), 'utf8')) as Health;
    ticks.set(tick.number, tick.duration_ms);
    const row = poll.get();
    if (row !== undefined) polls.set(Number(row.last_run_at), Number(row.duration_ms));
  }
  database.close();
  const { delayMaxMs, delayP99Ms, cpuMs, overMs, rssBytes } = await daemon.report();
  const shares = { delayMaxMs, delayP99Ms, sharePercent: (100 * cpuMs) / overMs, rssMb: rssBytes / 2 ** 20 };
  return { ticks: [...ticks.values()], polls: [...polls.values()], pages: took, ...shares };
}

interface Health {
  readonly tick: { readonly number: number; readonly duration_ms: number };
}
