import { systemChance } from '../../clock/system-chance.ts';
import { systemClock } from '../../clock/system-clock.ts';
import { toBatonError } from '../../core/baton-error.ts';
import { type Finding, failed, passed, warned } from '../../core/finding.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { probeMachine } from '../../daemon/run-containment.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { childEnvironment, usualVariables } from '../../process/child-environment.ts';
import type { Containment } from '../../process/containment/containment.ts';
import { relativeElements } from '../../process/find-program.ts';
import { probeIsolation, whyNoNamespaces } from '../../process/isolation/probe-isolation.ts';
import { runToEnd } from '../../process/run-to-end.ts';
import { checkFolder } from './check-folder.ts';

/**
 * The first version with `merge-tree --write-tree`, which merges need. Since 2.36 there is `core.fsync`: older ones do not say when
 * the data that a removal relies on is on the disk.
 */
const oldestGit = [2, 38] as const;

/** What Baton needs of a machine, for any workflow. */
export async function checkMachine(surroundings: Surroundings): Promise<Finding[]> {
  return [
    checkNode(surroundings),
    await checkGit(surroundings),
    ...checkSearchPath(surroundings),
    ...checkUser(surroundings),
    ...(await checkContainment(surroundings)),
    await checkFolder('temporary_files', surroundings.tmpDir, surroundings),
  ];
}

function checkNode({ nodeVersion }: Surroundings): Finding {
  const major = Number(nodeVersion.split('.')[0]);
  if (major >= 24) return passed('node', nodeVersion);
  return failed('node', `${nodeVersion} is too old`, 'install Node 24 or newer', { code: 'too_old', least: '24' });
}

/** Silent for every other user. */
function checkUser({ uid }: Surroundings): Finding[] {
  if (uid !== 0) return [];
  const message = 'Baton runs as root: agents that are not isolated can do everything on this machine';
  return [warned('user', message, 'use another user, unless Baton is alone in this container', { code: 'root' })];
}

/** Silent when every element is absolute. */
function checkSearchPath({ env }: Surroundings): Finding[] {
  const relative = relativeElements(env.PATH);
  if (relative.length === 0) return [];
  const names = relative.map((element) => (element === '' ? 'an empty element' : harmlessLine(element)));
  const message = `PATH has folders that are not absolute paths (${names.join(', ')}): Baton and the agents do not search them`;
  const fix = 'write absolute folders into PATH, or remove these';
  return [warned('search_path', message, fix, { code: 'relative_path', elements: relative })];
}

async function checkGit(surroundings: Surroundings): Promise<Finding> {
  const least = oldestGit.join('.');
  const fix = `install git ${least} or later (Debian: apt-get install git)`;
  try {
    const { code, stdout } = await runToEnd(
      {
        command: 'git',
        args: ['--version'],
        cwd: surroundings.tmpDir,
        env: childEnvironment({ from: surroundings.env, allow: usualVariables, deny: [] }),
        runId: systemChance.id(),
        timeoutMs: 10_000,
      },
      { clock: systemClock, containment: 'group_only', daemonId: systemChance.id() },
    );
    const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout) ?? [];
    const isRecent = Number(major) > oldestGit[0] || (Number(major) === oldestGit[0] && Number(minor) >= oldestGit[1]);
    const said = harmlessLine(stdout);
    if (code !== 0 || major === undefined) {
      return failed('git', said || `exit code ${code}`, fix, { code: 'unknown_version', least });
    }
    return isRecent ? passed('git', said) : failed('git', `${said} is too old`, fix, { code: 'too_old', least });
  } catch (error) {
    return failed('git', toBatonError(error).message, fix, { code: 'missing', least });
  }
}

const containmentMeaning: Record<Containment, string> = {
  user_pid_namespace: 'each agent has its own user and pid namespace: its processes cannot leave it, and end with it',
  marker_sweep: 'process groups; processes that leave their group are found by their run marker',
  group_only: 'process groups only: Baton cannot find processes that leave their group',
};

/** Every containment but the last is sound; the line says why the strongest is not available. */
async function checkContainment(surroundings: Surroundings): Promise<Finding[]> {
  const { containment, checks } = await probeMachine(surroundings, systemChance.id());
  const missing = checks.find(({ ok }) => !ok);
  const why = missing === undefined ? '' : ` (no pid namespace: ${missing.name}: ${missing.detail})`;
  const message = `${containment}: ${containmentMeaning[containment]}${why}`;
  const check = 'containment';
  const found =
    containment === 'group_only'
      ? failed(check, message, 'run Baton on Linux', { code: containment })
      : passed(check, message, { code: containment });
  return [found, await checkIsolation(containment, surroundings)];
}

/** Isolates a real child. A machine that cannot works on without: only `agent.isolation_required` makes it an error. */
async function checkIsolation(containment: Containment, { env, clock, chance }: Surroundings): Promise<Finding> {
  const check = 'isolation';
  const probeEnv = childEnvironment({ from: env, allow: usualVariables, deny: [] });
  const request = { env: probeEnv, clock, chance, daemonId: chance.id() };
  const { isAvailable, hasLayers, reason } = await probeIsolation(request, containment);
  const facts = { has_layers: hasLayers };
  if (isAvailable && hasLayers)
    return passed(
      check,
      'works: a test program saw its workspace, and none of the files that Baton hides from agents',
      facts,
    );
  const said = harmlessLine(reason ?? '');
  if (isAvailable) {
    const message = `works, but agents cannot write to package caches: ${said}`;
    return warned(check, message, 'use Linux 5.11 or later', { code: 'no_layers', ...facts });
  }
  const cause = whyNoNamespaces();
  const message = `not possible here, so agents see what you see: ${cause === null ? said : `${cause.reason} (${said})`}`;
  const fix = cause?.nextStep ?? 'see docs/isolation.md';
  return warned(check, message, fix, { code: 'unavailable', reason: said, ...facts });
}
