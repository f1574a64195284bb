import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { statusAt } from '../fake/ask-daemon.ts';
import { lookAgain } from '../look-again.ts';
import { until } from '../process/real-children.ts';
import { batonHere } from './baton-here.ts';
import { type Place, type RunningBaton, startBaton } from './run-baton.ts';

/** Long enough for a busy machine; nothing here measures time. */
const patienceMs = 120_000;

/** A test that talks to a daemon starts a dozen processes. */
export const liveTest = { timeout: 240_000 };

/** What an issue's description says when its run is to go on until the file `done` is in its workspace. */
export const untilDone = 'echo at work; while [ ! -e done ]; do sleep 0.05; done; rm done';

/** As `untilDone`, and then fails. */
export const failsWhenDone = `${untilDone}; exit 7`;

/**
 * A workflow on Baton's own board whose agent does what the description of the issue says, a shell script. It looks at
 * the board once an hour, so that whatever happens sooner happens because somebody asked for it.
 */
export function boardWorkflow(more = ''): string {
  return [
    '---',
    'project: {name: live}',
    'tracker: {kind: board}',
    'polling: {interval_ms: 3600000}',
    'workspace: {root: workspaces}',
    'agent: {backend: command, command: "cat > work.sh; exec sh work.sh", isolation_write: [.]}',
    ...more.split('\n').filter(Boolean),
    '---',
    '{{ issue.description }}',
  ].join('\n');
}

/** What makes an issue one for `labelledWorkflow`. */
export const labelled = ['--label', 'baton'];

/** As `boardWorkflow`, for issues with the label alone, and with so many slots. */
export function labelledWorkflow(slots: number): string {
  return boardWorkflow()
    .replace('{kind: board}', '{kind: board, required_labels: [baton]}')
    .replace('agent: {', `agent: {max_concurrent_agents: ${slots}, `);
}

/** Starts the daemon; resolves when it listens. */
export async function startDaemon(place: Place, ...args: string[]): Promise<RunningBaton> {
  const daemon = startBaton(place, 'start', ...args);
  await until(
    () => daemon.stderr().includes('orchestrator_started') || daemon.child.exitCode !== null,
    'the daemon listens',
    patienceMs,
  );
  expect(daemon.child.exitCode, daemon.stderr()).toBeNull();
  return daemon;
}

/** Stops the daemon in order. */
export async function stopDaemon(daemon: RunningBaton): Promise<void> {
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toMatchObject({ code: 0 });
}

/** The JSON that a command answers with; it must succeed. It runs in this process. */
// biome-ignore lint/suspicious/noExplicitAny: each test checks the shape it is about.
export async function answer(place: Place, ...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await batonHere(place, ...args, '--json');
  // A failure is JSON on stdout: it says why.
  const answered = code === 0 ? {} : { stdout };
  expect({ args, code, stderr, ...answered }).toEqual({ args, code: 0, stderr: '' });
  return JSON.parse(stdout);
}

/** The error that a command is refused with, as JSON on stdout alone. It runs in this process. */
export async function refusal(place: Place, ...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await batonHere(place, ...args, '--json');
  expect({ args, code, stderr }).toEqual({ args, code: 1, stderr: '' });
  return JSON.parse(stdout).error;
}

/** What the stand-in acts out, as it stands in the description of a ticket. */
export function rehearsal(...steps: readonly string[]): string {
  return ['```rehearsal', ...steps, '```'].join('\n');
}

/** Files an issue whose run does what the script says, and gives its identifier. */
export async function addIssue(place: Place, script: string, ...args: string[]): Promise<string> {
  const { issue } = await answer(place, 'issue', 'add', 'A title', '--description', script, ...args);
  return issue.identifier;
}

// biome-ignore lint/suspicious/noExplicitAny: each test checks the part it is about.
export async function statusOf(place: Place): Promise<any> {
  return (await answer(place, 'status')).status;
}

/** The runs, oldest first. */
export async function runsOf(place: Place): Promise<{ issue_identifier: string; [key: string]: unknown }[]> {
  return (await answer(place, 'runs', 'list')).runs.toReversed();
}

/** Resolves when the daemon tells these parts. It is asked from here: a process for each look would keep the machine busy. */
export async function untilStatus(place: Place, parts: object): Promise<void> {
  const socket = path.join(stateFolderOf(place), 'baton.sock');
  await soon(async () => {
    expect(await statusAt(socket)).toMatchObject(parts);
  });
}

/** Tries until it does not throw, and throws what it threw last when that never comes. */
export async function soon(check: () => void | Promise<void>): Promise<void> {
  const begin = performance.now();
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > begin + patienceMs) throw error;
      await lookAgain(begin);
    }
  }
}

/** Lets the run of an issue end that was told to work `untilDone`. */
export function letEnd(place: Place, identifier: string): void {
  place.write(`workspaces/${identifier}/done`, '');
}

/** The one folder in which the daemon of this place keeps its state. */
export function stateFolderOf(place: Place): string {
  const [own] = readdirSync(path.join(place.state, 'baton'));
  return path.join(place.state, 'baton', own ?? '');
}
