import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect } from 'vitest';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import type { Containment } from '../../src/process/containment/containment.ts';
import type { LiveProcess, StopOptions } from '../../src/process/containment/live-process.ts';
import { type LaunchRequest, launch } from '../../src/process/launch.ts';
import type { OutputLine } from '../../src/process/output/line-framer.ts';
import { runToEnd } from '../../src/process/run-to-end.ts';
import { lookAgain } from '../look-again.ts';

/** The environment of a child in tests: enough to find programs. */
export const testEnv = { PATH: process.env.PATH ?? '/usr/bin:/bin', TMPDIR: tmpdir() };

/** The default daemon id of children. It is unique, because other test files run at the same time. */
export const testDaemon: string = systemChance.id();

/** The options of a child: those of `launch`, and its daemon. */
type ChildChoices = Partial<LaunchRequest> & { readonly daemonId?: string };

/** Runs the suite once for each containment. One that this machine does not allow is reported as skipped. */
export function describeWithEachContainment(title: string, suite: (containment: Containment) => void): void {
  for (const [containment, available] of containments) {
    describe.skipIf(!available)(`${title} with ${containment}`, () => suite(containment));
  }
}

const containments: readonly [Containment, boolean][] = [
  ['marker_sweep', true],
  ['user_pid_namespace', await works('user_pid_namespace')],
];

async function works(containment: Containment): Promise<boolean> {
  const program = { command: '/bin/sh', args: ['-c', 'exit 7'], cwd: tmpdir(), env: testEnv };
  const run = { ...program, runId: systemChance.id(), timeoutMs: 10_000 };
  const result = await runToEnd(run, { clock: systemClock, containment, daemonId: testDaemon }).catch(() => null);
  return result?.code === 7;
}

/** Stops fast in tests that are not about waiting. */
export const hurried: StopOptions = { closeStdinMs: 0, terminateMs: 200, survivorGraceMs: 200 };

const started: { runId: string; live: LiveProcess }[] = [];

/** Starts a shell script. It is stopped after the test, and the test fails if one of its processes is left. */
export function startShell(containment: Containment, script: string, more: ChildChoices = {}): Promise<LiveProcess> {
  return startProgram(containment, { command: '/bin/sh', args: ['-c', script], ...more });
}

/** Starts a program of `fixtures/`. */
export function startFixture(
  containment: Containment,
  name: string,
  args: readonly string[] = [],
  more: ChildChoices = {},
): Promise<LiveProcess> {
  const file = path.join(import.meta.dirname, 'fixtures', name);
  return startProgram(containment, { command: process.execPath, args: [file, ...args], ...more });
}

export async function startProgram(
  containment: Containment,
  { daemonId = testDaemon, ...request }: ChildChoices & Pick<LaunchRequest, 'command' | 'args'>,
): Promise<LiveProcess> {
  const runId = systemChance.id();
  const defaults = { cwd: tmpdir(), env: testEnv, runId, stdin: 'open' } as const;
  const live = await launch({ ...defaults, ...request }, { clock: systemClock, containment, daemonId });
  started.push({ runId: request.runId ?? runId, live });
  return live;
}

/** Call this once in each test file that starts children. */
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

/** Polls until a condition holds; fails at the deadline. */
export async function until(condition: () => boolean, what: string, deadlineMs = 50_000): Promise<void> {
  const begin = performance.now();
  while (!condition()) {
    if (performance.now() > begin + deadlineMs) throw new Error(`timed out waiting until ${what}`);
    await lookAgain(begin);
  }
}

/** Does not use the code under test, so that the two check each other. */
export function pidsMarked(runId: string): number[] {
  return livePids().filter((pid) => `\0${readOrEmpty(`/proc/${pid}/environ`)}`.includes(`\0BATON_RUN_ID=${runId}\0`));
}

export function pidsOfDaemon(daemonId: string): number[] {
  return livePids().filter((pid) =>
    `\0${readOrEmpty(`/proc/${pid}/environ`)}`.includes(`\0BATON_DAEMON_ID=${daemonId}\0`),
  );
}

/** The pids, outside of any namespace, of programs that have this argument. */
export function pidsWithArgument(argument: string): number[] {
  return livePids().filter((pid) => readOrEmpty(`/proc/${pid}/cmdline`).split('\0').slice(1).includes(argument));
}

export function isSuspended(pid: number): boolean {
  return /\) T /.test(readOrEmpty(`/proc/${pid}/stat`));
}

export function isZombie(pid: number): boolean {
  return /\) Z /.test(readOrEmpty(`/proc/${pid}/stat`));
}

/** A process that has ended and is never reaped: its parent stays alive as a process of another run. */
export async function startZombie(runId: string): Promise<{ pid: number; startTime: number }> {
  const script = 'sleep 300 & echo $!; exec env BATON_RUN_ID=another cat';
  const live = await startShell('marker_sweep', script, { runId });
  const pid = Number(await nextLine(live));
  const startTime = Number(readOrEmpty(`/proc/${pid}/stat`).split(') ')[1]?.split(' ')[19]);
  // An answer shows that the shell, which would reap its child, has become the other program.
  await live.write('there\n');
  await nextLine(live);
  process.kill(pid, 'SIGKILL');
  await until(() => isZombie(pid), 'it has ended');
  return { pid, startTime };
}

let naps = 1_000_000;

/** A number of seconds that no other process sleeps, by which a process can be found without a marker. */
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
