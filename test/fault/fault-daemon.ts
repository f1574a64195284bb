import path from 'node:path';
import { expect } from 'vitest';
import { builtProgram } from '../built-baton.ts';
import { stateFolderOf } from '../cli/live-daemon.ts';
import { type Place, type RunningBaton, startProgram } from '../cli/run-baton.ts';
import { statusAt } from '../fake/ask-daemon.ts';
import { type KillPlan, killPlanVariable } from './kill-plan.ts';
import { patiently } from './patience.ts';

/** Starts a daemon that kills itself at the point of the plan. */
export function startDoomed(place: Place, plan: KillPlan): RunningBaton {
  const handed = `${killPlanVariable}=${JSON.stringify(plan)}`;
  return startProgram(place, '/usr/bin/env', [
    handed,
    process.execPath,
    '--import',
    builtProgram('fault/kill-at'),
    builtProgram('cli/main'),
    'start',
  ]);
}

/** Waits until it is killed; a daemon that never reaches its point fails the test. */
export async function untilKilled(daemon: RunningBaton): Promise<void> {
  await patiently(() => expect(hasEnded(daemon), daemon.stderr()).toBe(true));
  const ended = await daemon.ended;
  expect(ended.signal, ended.stderr).toBe('SIGKILL');
}

/** Starts a daemon; resolves when it works. */
export async function startLive(place: Place, ...flags: string[]): Promise<RunningBaton> {
  const daemon = startProgram(place, process.execPath, [builtProgram('cli/main'), 'start', ...flags]);
  await patiently(() => expect(hasEnded(daemon) || daemon.stderr().includes('orchestrator_started')).toBe(true));
  expect(hasEnded(daemon), daemon.stderr()).toBe(false);
  return daemon;
}

/** The status of the daemon of this place; it must answer. */
// biome-ignore lint/suspicious/noExplicitAny: each test checks the part it is about.
export async function statusNow(place: Place): Promise<any> {
  return statusAt(path.join(stateFolderOf(place), 'baton.sock'));
}

function hasEnded({ child }: RunningBaton): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
