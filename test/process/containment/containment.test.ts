import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemChance } from '../../../src/clock/system-chance.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { probeContainment } from '../../../src/process/containment/probe-containment.ts';
import {
  allLines,
  describeWithEachContainment,
  endChildrenAfterEachTest,
  nextLine,
  startShell,
  testDaemon,
  testEnv,
} from '../real-children.ts';

endChildrenAfterEachTest();

const probe = (env: Record<string, string>) =>
  probeContainment({ env, clock: systemClock, chance: systemChance, daemonId: testDaemon });

describe('the containment probe', () => {
  // @conforms process.7
  it('chooses a namespace exactly when every check passes, and reports a reason for each', async () => {
    const { containment, checks } = await probe(testEnv);
    expect(containment !== 'marker_sweep').toBe(checks.every((check) => check.ok));
    expect(checks.length).toBeGreaterThan(0);
    for (const check of checks) expect(check.detail).not.toBe('');
  });

  it('chooses the sweep when the programs for namespaces are missing, and reports why', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'baton-no-unshare-'));
    try {
      expect(await probe({ PATH: folder })).toEqual({
        containment: 'marker_sweep',
        checks: [{ name: 'exit_code', ok: false, detail: expect.stringContaining('setpriv') }],
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('leaves no folder behind', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'baton-probe-'));
    try {
      await probe({ ...testEnv, TMPDIR: folder });
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describeWithEachContainment('a child', (containment) => {
  it('is never pid 1, so that TERM reaches it', async () => {
    const live = await startShell(containment, 'echo $$');
    expect(Number(await nextLine(live))).toBeGreaterThan(1);
  });

  it('sees itself in /proc, and its mounts are invisible outside', async () => {
    const mounts = () =>
      readFileSync('/proc/self/mountinfo', 'utf8')
        .split('\n')
        .filter((line) => line.includes(' /proc ')).length;
    const before = mounts();
    const live = await startShell(containment, 'readlink /proc/self; cat');
    expect(Number(await nextLine(live))).toBeGreaterThan(0);
    expect(mounts()).toBe(before);
  });

  it('adds nothing to its error output when a signal ends it', async () => {
    const live = await startShell(containment, 'kill -TERM $$');
    await allLines(live);
    await live.stop();
    expect(live.stderrTail()).toBe('');
    expect([
      { code: null, signal: 'SIGTERM' },
      { code: 143, signal: null },
    ]).toContainEqual(await live.exited);
  });
});
