import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Chance } from '../../clock/chance.ts';
import { type Clock, timedOut, within } from '../../clock/clock.ts';
import { toBatonError } from '../../core/baton-error.ts';
import type { ChildEnvironment } from '../child-environment.ts';
import { launch } from '../launch.ts';
import { runToEnd } from '../run-to-end.ts';
import type { Containment } from './containment.ts';
import { type ContainmentCheck, namespaceChecks, type Trial } from './namespace-checks.ts';
import { sweepRun } from './sweep.ts';

/** The containment that the machine allows, and why; `doctor` prints it. */
export interface ContainmentReport {
  readonly containment: Containment;
  readonly checks: readonly ContainmentCheck[];
}

export interface ProbeRequest {
  /** The environment of agents: PATH, HOME and TMPDIR decide which programs are found and where the trial runs. */
  readonly env: ChildEnvironment;
  readonly clock: Clock;
  readonly chance: Chance;
  /** The id of the calling daemon, so that it ends leftovers of the probe after a crash; without a daemon, any new id. */
  readonly daemonId: string;
}

/** A check takes milliseconds; one that takes this long hangs. */
const stepTimeoutMs = 10_000;

/**
 * Tries out whether agents can work in a pid namespace on this machine: run, receive TERM, commit, own their files and
 * build their own sandbox. The report ends with the first check that failed. Runs real programs in a temporary folder, all
 * checks at the same time. The daemon does this once, when it starts.
 */
export async function probeContainment(request: ProbeRequest): Promise<ContainmentReport> {
  if (!existsSync('/proc/self/environ')) {
    const detail =
      'There is no /proc. Baton ends only the process group of an agent and cannot find processes that leave it.';
    return { containment: 'group_only', checks: [{ name: 'proc', ok: false, detail }] };
  }
  const containment = 'user_pid_namespace';
  const folder = await mkdtemp(path.join(request.env.TMPDIR ?? '/tmp', 'baton-containment-'));
  try {
    const tried = Object.entries(namespaceChecks).map(async ([name, check]): Promise<ContainmentCheck> => {
      const verdict = await check(await trial(request, containment, path.join(folder, name))).catch(asVerdict);
      return { name, ...verdict };
    });
    const checks = await Promise.all(tried);
    const failed = checks.findIndex(({ ok }) => !ok);
    return failed < 0 ? { containment, checks } : { containment: 'marker_sweep', checks: checks.slice(0, failed + 1) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** For a check that throws, as on a machine without `unshare`. */
function asVerdict(thrown: unknown): Omit<ContainmentCheck, 'name'> {
  return { ok: false, detail: toBatonError(thrown).message };
}

async function trial(request: ProbeRequest, containment: Containment, folder: string): Promise<Trial> {
  await mkdir(folder);
  const { clock, env, daemonId } = request;
  const program = (script: string, cwd = folder) => {
    return { command: '/bin/sh', args: ['-c', script], cwd, env, runId: request.chance.id() };
  };
  const run = (under: Containment, script: string, cwd?: string) =>
    runToEnd({ ...program(script, cwd), timeoutMs: stepTimeoutMs }, { clock, containment: under, daemonId });
  return {
    folder,
    inside: (script, cwd) => run(containment, script, cwd),
    // Nothing that these scripts start leaves its group, and reading the table of processes takes longer than they do.
    outside: (script, cwd) => run('group_only', script, cwd),
    async survivorsOf(script) {
      const started = program(script);
      const { code, stderr } = await runToEnd(
        { ...started, timeoutMs: stepTimeoutMs },
        { clock, containment, daemonId },
      );
      const { ended, left } = await sweepRun(started.runId, { clock }, { graceMs: 0 });
      return { code, stderr, survivors: ended + left };
    },
    async terminateInside(script) {
      const live = await launch({ ...program(script), stdin: 'none' }, { clock, containment, daemonId });
      await within(clock, stepTimeoutMs, live.lines.next());
      await live.stop({ closeStdinMs: 0 });
      const exit = await within(clock, stepTimeoutMs, live.exited);
      return exit === timedOut ? null : exit.code;
    },
  };
}
