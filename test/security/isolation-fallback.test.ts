import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { openIsolation } from '../../src/daemon/compose-isolation.ts';
import type { Surroundings } from '../../src/daemon/surroundings.ts';
import { whyNoNamespaces } from '../../src/process/isolation/probe-isolation.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { settings } from '../fake/settings.ts';

/** A daemon on a machine without namespaces. */
function open(agent: { isolation: 'namespaces' | 'none'; isolationRequired: boolean }) {
  const logger = memoryLogger();
  const daemonEnv = { PATH: process.env.PATH };
  const surroundings = {
    ...{ clock: systemClock, chance: systemChance, env: daemonEnv, homeDir: '/home/me', nodePath: process.execPath },
    agentProgram: () => pathToFileURL('/opt/baton/program.ts'),
  } as unknown as Surroundings;
  const wanted = settings({ agent });
  const opened = openIsolation(
    {
      process: { clock: systemClock, containment: 'marker_sweep', daemonId: systemChance.id(), daemonEnv },
      ...{ settings: wanted, workflowPath: '/home/me/WORKFLOW.md', stateDir: '/home/me/state', logger },
    },
    surroundings,
  );
  return { opened, logger, wanted };
}

it('without namespaces, agents are not isolated and the log warns', async () => {
  const { opened, logger, wanted } = open({ isolation: 'namespaces', isolationRequired: false });
  const { isolationFor } = await opened;
  expect(isolationFor(wanted)({ workspace: '/w', reads: [], writes: [] })).toBeNull();
  expect(logger.lines).toMatchObject([
    { level: 'warn', event: 'isolation_limited', fields: { is_available: false, reason: expect.any(String) } },
  ]);
});

it('agent.isolation_required refuses to start without them', async () => {
  const { opened } = open({ isolation: 'namespaces', isolationRequired: true });
  await expect(opened).rejects.toMatchObject({ code: 'isolation_unavailable' });
});

it('`none` that a person chose is no reason to warn', async () => {
  const { opened, logger } = open({ isolation: 'none', isolationRequired: false });
  await opened;
  expect(logger.lines).toEqual([]);
});

// The step is a command: what it changes is what was found.
it.each([
  ['/proc/sys/kernel/apparmor_restrict_unprivileged_userns', '1', 'kernel.apparmor_restrict_unprivileged_userns=0'],
  ['/proc/sys/kernel/unprivileged_userns_clone', '0', 'kernel.unprivileged_userns_clone=1'],
  ['/proc/sys/user/max_user_namespaces', '0', 'user.max_user_namespaces=15000'],
  ['/.dockerenv', '', '--security-opt seccomp=unconfined'],
  ['/proc/self/status', 'Name:\tnode\nSeccomp:\t2\nThreads:\t1', '--security-opt seccomp=unconfined'],
])('doctor has the step for a machine whose %s forbids namespaces', (file, content, step) => {
  expect(whyNoNamespaces((each) => (each === file ? content : null))?.nextStep).toContain(step);
});

it('doctor has none where the machine says nothing', () => {
  const allowing: Readonly<Record<string, string>> = {
    '/proc/sys/kernel/apparmor_restrict_unprivileged_userns': '0',
    '/proc/sys/kernel/unprivileged_userns_clone': '1',
    '/proc/sys/user/max_user_namespaces': '15000',
    '/proc/self/status': 'Seccomp:\t0',
  };
  expect(whyNoNamespaces((file) => allowing[file] ?? null)).toBeNull();
  expect(whyNoNamespaces(() => null)).toBeNull();
});
