import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAlive } from '../../../src/process/containment/is-alive.ts';
import {
  describeWithEachContainment,
  endChildrenAfterEachTest,
  hurried,
  isZombie,
  nextLine,
  startShell,
  startZombie,
  uniqueNap,
} from '../real-children.ts';

endChildrenAfterEachTest();

describeWithEachContainment('a process', (containment) => {
  it('is alive from its start to its end, with or without a known start time', async () => {
    const live = await startShell(containment, 'echo ready; cat');
    await nextLine(live);
    expect([isAlive(live), isAlive({ pid: live.pid, startTime: null })]).toEqual([true, true]);
    await live.stop(hurried);
    expect([isAlive(live), isAlive({ pid: live.pid, startTime: null })]).toEqual([false, false]);
  });
});

describe('a process that is not alive', () => {
  // @conforms claims.25
  it('only has the same pid', async () => {
    const live = await startShell('marker_sweep', 'cat');
    expect(isAlive({ pid: live.pid, startTime: (live.startTime ?? 0) + 1 })).toBe(false);
  });

  // @conforms claims.24
  it('is a zombie', async () => {
    const zombie = await startZombie(`zombie-${uniqueNap()}`);
    expect([isAlive(zombie), isAlive({ pid: zombie.pid, startTime: null })]).toEqual([false, false]);
    expect(isZombie(zombie.pid)).toBe(true);
  });

  it('has a pid that no process can have, and no process group is asked', () => {
    const never = fc.oneof(fc.integer({ max: 0 }), fc.constantFrom(0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 40));
    fc.assert(fc.property(never, (pid) => !isAlive({ pid, startTime: null })));
  });
});
