import { expect, it } from 'vitest';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { probeContainment } from '../../src/process/containment/probe-containment.ts';
import { allLines, endChildrenAfterEachTest, startShell, testDaemon, testEnv } from '../process/real-children.ts';

endChildrenAfterEachTest();

const probe = { env: testEnv, clock: systemClock, chance: systemChance, daemonId: testDaemon };
const { containment } = await probeContainment(probe);
const hasNamespaces = containment !== 'marker_sweep' && containment !== 'group_only';

/** The ways to the processes outside that a program has when it may change its mounts. */
const attacks = {
  'unmounts /proc': 'umount /proc',
  'unmounts /proc in a namespace of its own': 'unshare --user --map-root-user --mount sh -c "umount /proc; $show"',
  'enters the namespaces of its parent': 'nsenter --target 1 --mount --pid sh -c "$show"',
  'mounts another /proc': 'mount -t proc proc /proc',
};

const show = 'cat /proc/[0-9]*/environ | tr "\\0" "\\n"';

// Root is the usual user in containers, and has all capabilities there.
it.skipIf(!hasNamespaces).each(Object.entries(attacks))(
  'an agent that %s does not see the environment of the daemon',
  async (_, attack) => {
    const daemon = await startShell('marker_sweep', 'read line', {
      env: { ...testEnv, SECRET: 'canary-of-the-daemon' },
    });
    expect(daemon.pid).toBeGreaterThan(0);
    const live = await startShell(containment, `exec 2>&1; export show='${show}'; ${attack}; ${show}`);
    const output = (await allLines(live)).map(({ text }) => text).join('\n');
    expect(output).not.toContain('canary-of-the-daemon');
    // Its own processes, so that a /proc that shows nothing at all does not pass.
    expect(output).toContain('BATON_RUN_ID=');
  },
);

it.skipIf(!hasNamespaces)('an agent can neither mount nor unmount anything', async () => {
  const script = 'exec 2>&-; mount -t tmpfs none /mnt && echo mounted; umount /proc && echo unmounted; echo end';
  const live = await startShell(containment, script);
  expect((await allLines(live)).map(({ text }) => text)).toEqual(['end']);
});
