import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect } from 'vitest';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import type { Custody } from '../../src/process/containment/custody.ts';
import type { LiveProcess, StopOptions } from '../../src/process/containment/live-process.ts';
import { type LaunchRequest, launch } from '../../src/process/launch.ts';
import type { OutputLine } from '../../src/process/output/line-framer.ts';
import { runToEnd } from '../../src/process/run-to-end.ts';

/** What a child of a test gets: enough to find programs. */
export const testEnv = { PATH: process.env.PATH ?? '/usr/bin:/bin', TMPDIR: tmpdir() };

/** Whose children those of a test are, unless it says otherwise; other test files run beside it. */
export const testDaemon: string = systemChance.id();

/** What a test may say of a child: all that a launch takes, and whose it is. */
type ChildChoices = Partial<LaunchRequest> & { readonly daemonId?: string };

/** Runs the suite once for each custody; one that this machine does not allow is skipped, and seen to be. */
export function describeUnderEachCustody(title: string, suite: (custody: Custody) => void): void {
  for (const [custody, available] of custodies) {
    describe.skipIf(!available)(`${title} under ${custody}`, () => suite(custody));
  }
}

const custodies: readonly [Custody, boolean][] = [
  ['marker_sweep', true],
  ['pid_namespace', await works('pid_namespace')],
  ['user_pid_namespace', await works('user_pid_namespace')],
];

async function works(custody: Custody): Promise<boolean> {
  const program = { command: '/bin/sh', args: ['-c', 'exit 7'], cwd: tmpdir(), env: testEnv };
  const run = { ...program, runId: systemChance.id(), timeoutMs: 10_000 };
  const result = await runToEnd(run, { clock: systemClock, custody, daemonId: testDaemon }).catch(() => null);
  return result?.code === 7;
}

/** Stops at once where a test is not about patience. */
export const hurried: StopOptions = { closeStdinMs: 0, terminateMs: 200, survivorGraceMs: 200 };

const started: { runId: string; live: LiveProcess }[] = [];

/** Starts a shell script. After the test it is stopped, and the test fails if anything of it is left. */
export function startShell(custody: Custody, script: string, more: ChildChoices = {}): Promise<LiveProcess> {
  return startProgram(custody, { command: '/bin/sh', args: ['-c', script], ...more });
}

/** Starts a program of `fixtures/`. */
export function startFixture(
  custody: Custody,
  name: string,
  args: readonly string[] = [],
  more: ChildChoices = {},
): Promise<LiveProcess> {
  const file = path.join(import.meta.dirname, 'fixtures', name);
  return startProgram(custody, { command: process.execPath, args: [file, ...args], ...more });
}

export async function startProgram(
  custody: Custody,
  { daemonId = testDaemon, ...request }: ChildChoices & Pick<LaunchRequest, 'command' | 'args'>,
): Promise<LiveProcess> {
  const runId = systemChance.id();
  const defaults = { cwd: tmpdir(), env: testEnv, runId, stdin: 'open' } as const;
  const live = await launch({ ...defaults, ...request }, { clock: systemClock, custody, daemonId });
  started.push({ runId: request.runId ?? runId, live });
  return live;
}

/** To be called once in a file that starts children. */
export function endChildrenAfterEachTest(): void {
  afterEach(async () => {
    for (const { live, runId } of started.splice(0)) {
      await live.stop(hurried);
      expect(pidsMarked(runId)).toEqual([]);
    }
  });
}

export async function allLines(live: LiveProcess): Promise<OutputLine[]> {
  return Array.fromAsync(live.lines);
}

export async function nextLine(live: LiveProcess): Promise<string> {
  const { value, done } = await live.lines.next();
  if (done) throw new Error(`the output ended; error output: ${live.stderrTail()}`);
  return value.text;
}

/** Waits until a condition holds, by looking; fails when it does not within the deadline. */
export async function until(condition: () => boolean, what: string, deadlineMs = 20_000): Promise<void> {
  const end = performance.now() + deadlineMs;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Written apart from the code under test, so that the two check each other. */
export function pidsMarked(runId: string): number[] {
  return livePids().filter((pid) => `\0${readOrEmpty(`/proc/${pid}/environ`)}`.includes(`\0BATON_RUN_ID=${runId}\0`));
}

export function pidsOfDaemon(daemonId: string): number[] {
  return livePids().filter((pid) =>
    `\0${readOrEmpty(`/proc/${pid}/environ`)}`.includes(`\0BATON_DAEMON_ID=${daemonId}\0`),
  );
}

/** The pids, as the machine sees them, of programs that have this argument. */
export function pidsWithArgument(argument: string): number[] {
  return livePids().filter((pid) => readOrEmpty(`/proc/${pid}/cmdline`).split('\0').slice(1).includes(argument));
}

export function isSuspended(pid: number): boolean {
  return /\) T /.test(readOrEmpty(`/proc/${pid}/stat`));
}

export function isZombie(pid: number): boolean {
  return /\) Z /.test(readOrEmpty(`/proc/${pid}/stat`));
}

/** A process that has ended, and that its parent, which lives on as one of another run, never collects. */
export async function startZombie(runId: string): Promise<{ pid: number; startTime: number }> {
  const script = 'sleep 300 & echo $!; exec env BATON_RUN_ID=another cat';
  const live = await startShell('marker_sweep', script, { runId });
  const pid = Number(await nextLine(live));
  const startTime = Number(readOrEmpty(`/proc/${pid}/stat`).split(') ')[1]?.split(' ')[19]);
  // An answer tells that the shell, which would collect its child, has become the other program.
  await live.write('there\n');
  await nextLine(live);
  process.kill(pid, 'SIGKILL');
  await until(() => isZombie(pid), 'it has ended');
  return { pid, startTime };
}

let naps = 1_000_000;

/** A number of seconds to sleep that no other process sleeps: a name by which it is found without a marker. */
export function uniqueNap(): string {
  naps += 1;
  return `${naps}.${process.pid}`;
}

function livePids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
