import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { startTimeOf } from '../../src/process/containment/process-table.ts';

/**
 * Reads the process table ten times a second while a test runs: which runs have a live
 * process, and whether an issue ever has two. One read serves all tests of the file; each sees the processes whose home
 * is inside its folders.
 */
export interface ProcessWatch extends Disposable {
  /** In words, each time two runs of one issue were alive at the same instant. */
  readonly overlaps: readonly string[];
  /** The most runs that were alive at one read. */
  readonly mostRuns: number;
  /** The number of reads. */
  readonly looks: number;
  /** Every run that was ever seen alive, by its id. */
  readonly lives: ReadonlyMap<string, RunLife>;
}

/** When a run was seen, by the wall clock; `goneAt` is the first read that did not find it. */
export interface RunLife {
  readonly issueId: string;
  /** The home of its processes: whose agent it is. */
  readonly home: string;
  readonly firstSeenAt: number;
  readonly goneAt: number | null;
}

interface Seen {
  readonly pid: number;
  readonly startTime: number | null;
  readonly runId: string;
  readonly issueId: string;
  readonly home: string;
}

interface Watch {
  readonly folders: readonly string[];
  readonly overlaps: string[];
  mostRuns: number;
  looks: number;
  readonly lives: Map<string, RunLife>;
}

/** The lock of the journal also finds two overlapping agents, however short the overlap. */
const lookEveryMs = 100;
const watches = new Set<Watch>();
let timer: NodeJS.Timeout | undefined;

export function watchProcesses(...folders: string[]): ProcessWatch {
  const watch: Watch = { folders, overlaps: [], mostRuns: 0, looks: 0, lives: new Map() };
  watches.add(watch);
  timer ??= setInterval(look, lookEveryMs);
  const end = (): void => {
    watches.delete(watch);
    if (watches.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return Object.assign(watch, { [Symbol.dispose]: end });
}

/**
 * The table is read piece by piece: of two runs the first may have ended before the second started. Processes that were read and
 * are still alive after the last read were alive at the same time, and only these count.
 */
function look(): void {
  const seen = pidsOf('/proc').flatMap((pid) => seeRun(pid) ?? []);
  const alive = seen.filter(
    ({ pid, startTime }) => startTime !== null && startTimeOf(pid) === startTime && !isDead(pid),
  );
  for (const watch of watches) {
    const own = alive.filter(({ home }) => watch.folders.some((folder) => home.startsWith(`${folder}/`)));
    watch.looks += 1;
    watch.mostRuns = Math.max(watch.mostRuns, new Set(own.map(({ runId }) => runId)).size);
    watch.overlaps.push(...overlapsAmong(own));
    noteLives(watch.lives, own, Date.now());
  }
}

function noteLives(lives: Map<string, RunLife>, alive: readonly Seen[], now: number): void {
  const seen = new Set(alive.map(({ runId }) => runId));
  for (const { runId, issueId, home } of alive) {
    const firstSeenAt = lives.get(runId)?.firstSeenAt ?? now;
    lives.set(runId, { issueId, home, firstSeenAt, goneAt: null });
  }
  for (const [runId, life] of lives) {
    if (!seen.has(runId) && life.goneAt === null) lives.set(runId, { ...life, goneAt: now });
  }
}

function overlapsAmong(alive: readonly Seen[]): string[] {
  return [...Map.groupBy(alive, ({ issueId }) => issueId)]
    .filter(([, own]) => new Set(own.map(({ runId }) => runId)).size > 1)
    .map(([issueId, own]) => `${issueId}: ${own.map(({ runId, pid }) => `${runId} (pid ${pid})`).join(', ')}`);
}

function seeRun(pid: number): Seen | null {
  const environment = readOrEmpty(`/proc/${pid}/environ`);
  if (!environment.includes('BATON_RUN_ID=')) return null;
  const variables = new Map(
    environment.split('\0').map((each) => [each.split('=')[0], each.slice(each.indexOf('=') + 1)]),
  );
  const [runId, issueId, home] = ['BATON_RUN_ID', 'BATON_ISSUE_ID', 'HOME'].map((name) => variables.get(name));
  if (runId === undefined || issueId === undefined || home === undefined) return null;
  return { pid, startTime: startTimeOf(pid), runId, issueId, home };
}

/** The live processes with a home or a working directory inside the folder of a test. */
export function leftIn(folder: string): string[] {
  return pidsOf('/proc')
    .filter((pid) => !isDead(pid))
    .filter((pid) => {
      const home = readOrEmpty(`/proc/${pid}/environ`)
        .split('\0')
        .find((each) => each.startsWith('HOME='));
      return home?.startsWith(`HOME=${folder}/`) || isInside(workingDirectory(pid), folder);
    })
    .map((pid) => `${pid} ${readOrEmpty(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').slice(0, 200)}`);
}

/** The most memory a process ever had, in MiB; null when it is gone. */
export function peakMemoryMiB(pid: number): number | null {
  const kiB = /^VmHWM:\s+(?<kiB>\d+) kB$/m.exec(readOrEmpty(`/proc/${pid}/status`))?.groups?.kiB;
  return kiB === undefined ? null : Number(kiB) / 1024;
}

function pidsOf(proc: string): number[] {
  return readdirSync(proc).flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

function isDead(pid: number): boolean {
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  return stat === '' || /\) [ZX] /.test(stat);
}

function workingDirectory(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

function isInside(inner: string, folder: string): boolean {
  return inner === folder || inner.startsWith(`${folder}/`);
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
