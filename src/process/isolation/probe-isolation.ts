import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { toBatonError } from '../../core/baton-error.ts';
import type { Containment } from '../containment/containment.ts';
import type { ProbeRequest } from '../containment/probe-containment.ts';
import { runToEnd } from '../run-to-end.ts';
import { planIsolation } from './plan-isolation.ts';

/** Whether this machine can isolate agents; `doctor` prints it. */
export interface IsolationReport {
  readonly isAvailable: boolean;
  /** Whether a child can write to a private layer over a folder that it reads. */
  readonly hasLayers: boolean;
  /** Why it is not available, or a part of it is not; null when everything works. */
  readonly reason: string | null;
}

const trialTimeoutMs = 10_000;

/**
 * Isolates a real child and lets it try what isolation promises. Runs in a temporary folder that it removes. The daemon
 * does this once, when it starts.
 */
export async function probeIsolation(request: ProbeRequest, containment: Containment): Promise<IsolationReport> {
  if (containment !== 'user_pid_namespace') {
    return { isAvailable: false, hasLayers: false, reason: 'There are no pid namespaces (see containment).' };
  }
  const reason = await whyNot(request, true);
  if (reason === null) return { isAvailable: true, hasLayers: true, reason };
  const reasonWithout = await whyNot(request, false);
  return { isAvailable: reasonWithout === null, hasLayers: false, reason: reasonWithout ?? reason };
}

/** The child names the first promise that does not hold. Arguments: the trial's folder, and 1 where layers are used. */
const script = `
[ "$PWD" = "$1/workspaces/own" ] || { echo "the child is not in its workspace"; exit 1; }
for hidden in state/token workspaces/other home/.ssh/key home/notes; do
  [ ! -e "$1/$hidden" ] || { echo "a hidden path is visible"; exit 1; }
done
[ -r "$1/repository/file" ] || { echo "a visible path is hidden"; exit 1; }
echo 1 2>/dev/null >"$1/repository/file" && { echo "a path for reading can be written"; exit 1; }
echo 1 2>/dev/null >./file || { echo "the workspace cannot be written"; exit 1; }
echo 1 2>/dev/null >/tmp/file && echo 1 >"$HOME/file" || { echo "a private folder cannot be written"; exit 1; }
[ -z "$2" ] || echo 1 2>/dev/null >"$HOME/.npm/file" || { echo "a layer cannot be written"; exit 1; }
umount "$1/home" 2>/dev/null && { echo "a mount can be removed"; exit 1; }
exit 0
`;

async function whyNot(request: ProbeRequest, hasLayers: boolean): Promise<string | null> {
  const { env, clock, chance, daemonId } = request;
  const folder = await realpath(await mkdtemp(path.join(env.TMPDIR ?? '/tmp', 'baton-isolation-')));
  const at = (name: string): string => path.join(folder, name);
  try {
    for (const each of ['state', 'workspaces/own', 'workspaces/other', 'home/.ssh', 'home/.npm', 'repository'])
      await mkdir(at(each), { recursive: true });
    for (const each of ['state/token', 'home/.ssh/key', 'home/notes', 'repository/file'])
      await writeFile(at(each), '0');
    const ground = {
      homes: [at('home')],
      stateFolders: [at('state')],
      workspaceRoot: at('workspaces'),
      reads: [at('repository')],
      searchPath: '',
      gitConfiguration: '',
      readSetting: [],
      writeSetting: [],
      hasLayers,
    };
    const isolation = planIsolation(ground, { workspace: at('workspaces/own'), reads: [], writes: [] });
    const program = { command: '/bin/sh', args: ['-c', script, 'sh', folder, hasLayers ? '1' : ''], isolation };
    const { code, stdout, stderr } = await runToEnd(
      {
        ...program,
        cwd: at('workspaces/own'),
        env: { ...env, HOME: at('home') },
        runId: chance.id(),
        timeoutMs: trialTimeoutMs,
      },
      { clock, containment: 'user_pid_namespace', daemonId },
    );
    return code === 0 ? null : `${stdout}${stderr}`.trim() || `A trial ended with code ${code}.`;
  } catch (thrown) {
    return toBatonError(thrown).message;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Why a machine allows no user namespaces, as far as it says so, and the step that changes it. */
export function whyNoNamespaces(read: Read = contentOf): { readonly reason: string; readonly nextStep: string } | null {
  return causes.find(({ applies }) => applies(read)) ?? null;
}

/** The content of a file of this machine; null when there is none. */
type Read = (file: string) => string | null;

const causes: readonly { reason: string; nextStep: string; applies: (read: Read) => boolean }[] = [
  {
    applies: (read) => read('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === '1',
    reason: 'AppArmor restricts user namespaces (the default of Ubuntu since 24.04)',
    nextStep:
      'sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0; to keep it after a reboot, write it to a file in /etc/sysctl.d/',
  },
  {
    applies: (read) => read('/proc/sys/kernel/unprivileged_userns_clone') === '0',
    reason: 'the kernel allows user namespaces to root only',
    nextStep:
      'sudo sysctl kernel.unprivileged_userns_clone=1; to keep it after a reboot, write it to a file in /etc/sysctl.d/',
  },
  {
    applies: (read) => read('/proc/sys/user/max_user_namespaces') === '0',
    reason: 'the kernel allows no user namespaces',
    nextStep:
      'sudo sysctl user.max_user_namespaces=15000; to keep it after a reboot, write it to a file in /etc/sysctl.d/',
  },
  {
    applies: (read) => read('/.dockerenv') !== null || /^Seccomp:\s*2$/m.test(read('/proc/self/status') ?? ''),
    reason: 'a container forbids user namespaces (its seccomp profile)',
    nextStep: 'start the container with --security-opt seccomp=unconfined --security-opt systempaths=unconfined',
  },
];

function contentOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return null;
  }
}
