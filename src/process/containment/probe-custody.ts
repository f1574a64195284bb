import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Chance } from '../../clock/chance.ts';
import { type Clock, timedOut, within } from '../../clock/clock.ts';
import { toBatonError } from '../../core/baton-error.ts';
import type { ChildEnvironment } from '../child-environment.ts';
import { launch } from '../launch.ts';
import { runToEnd } from '../run-to-end.ts';
import type { Custody } from './custody.ts';
import { type CustodyCheck, namespaceChecks, type Trial } from './namespace-checks.ts';

/** The containment that the machine allows, and why; `doctor` prints it. */
export interface CustodyReport {
  readonly custody: Custody;
  readonly checks: readonly CustodyCheck[];
}

export interface ProbeRequest {
  /** The environment of agents: PATH, HOME and TMPDIR decide which programs are found and where the trial runs. */
  readonly env: ChildEnvironment;
  readonly clock: Clock;
  readonly chance: Chance;
  /** The id of the asking daemon, which after a restart ends the leftovers of a crash; otherwise any new id. */
  readonly daemonId: string;
}

/** One step of the trial takes milliseconds; a step that takes this long hangs. */
const stepTimeoutMs = 10_000;

/**
 * Finds out, by doing it, whether agents can work inside a pid namespace here: run, hear TERM, commit, own their files
 * and build their own sandbox. The first check that fails settles it. Runs real programs in a folder of its own, which
 * it removes; done once at the start of the daemon.
 */
export async function probeCustody(request: ProbeRequest): Promise<CustodyReport> {
  if (!existsSync('/proc/self/environ')) {
    const detail = 'There is no /proc: only the process group is ended, what leaves it is not found.';
    return { custody: 'group_only', checks: [{ name: 'proc', ok: false, detail }] };
  }
  const custody = process.geteuid?.() === 0 ? 'pid_namespace' : 'user_pid_namespace';
  const folder = await mkdtemp(path.join(request.env.TMPDIR ?? '/tmp', 'baton-custody-'));
  const checks: CustodyCheck[] = [];
  try {
    for (const [name, check] of Object.entries(namespaceChecks)) {
      const verdict = await check(await trial(request, custody, path.join(folder, name))).catch(asVerdict);
      checks.push({ name, ...verdict });
      if (!verdict.ok) return { custody: 'marker_sweep', checks };
    }
    return { custody, checks };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Such as a machine without `unshare`. */
function asVerdict(thrown: unknown): Omit<CustodyCheck, 'name'> {
  return { ok: false, detail: toBatonError(thrown).message };
}

async function trial(request: ProbeRequest, custody: Custody, folder: string): Promise<Trial> {
  await mkdir(folder);
  const { clock, env, daemonId } = request;
  const program = (script: string, cwd = folder) => {
    return { command: '/bin/sh', args: ['-c', script], cwd, env, runId: request.chance.id() };
  };
  const run = (under: Custody, script: string, cwd?: string) =>
    runToEnd({ ...program(script, cwd), timeoutMs: stepTimeoutMs }, { clock, custody: under, daemonId });
  return {
    folder,
    inside: (script, cwd) => run(custody, script, cwd),
    outside: (script, cwd) => run('marker_sweep', script, cwd),
    async terminateInside(script) {
      const live = await launch({ ...program(script), stdin: 'none' }, { clock, custody, daemonId });
      await within(clock, stepTimeoutMs, live.lines.next());
      await live.stop({ closeStdinMs: 0 });
      const exit = await within(clock, stepTimeoutMs, live.exited);
      return exit === timedOut ? null : exit.code;
    },
  };
}
