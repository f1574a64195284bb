import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { endRunsAtOnce } from '../../../src/process/containment/sweep.ts';
import {
  describeWithEachContainment,
  endChildrenAfterEachTest,
  nextLine,
  pidsMarked,
  pidsWithArgument,
  startShell,
  uniqueNap,
  until,
} from '../real-children.ts';

endChildrenAfterEachTest();

const deps = { clock: systemClock };

describeWithEachContainment('runs that must end at once', (containment) => {
  // @conforms claims.23
  it('are ended together although they ignore TERM, and no other run is', async () => {
    const runIds = [1, 2, 3].map((each) => `at-once-${each}-${uniqueNap()}`);
    const nap = uniqueNap();
    const deaf = `trap "" TERM; setsid sh -c 'trap "" TERM; sleep ${nap}; :' & echo ready; cat; sleep ${nap}`;
    const lives = await Promise.all(runIds.map((runId) => startShell(containment, deaf, { runId })));
    const other = await startShell(containment, 'trap "echo asked" TERM; echo ready; cat', { runId: `other-${nap}` });
    for (const live of [...lives, other]) await nextLine(live);
    await until(() => pidsWithArgument(nap).length === 3, 'all that they start runs');

    const { ended, left } = await endRunsAtOnce(runIds, deps);
    expect(left).toEqual([]);
    expect(ended).toBeGreaterThanOrEqual(6);
    expect(runIds.flatMap(pidsMarked)).toEqual([]);
    for (const live of lives) expect(await live.exited).not.toMatchObject({ code: 0 });
    await other.write('still here\n');
    expect(await nextLine(other)).toBe('still here');
  });

  it('get no TERM, so none of them can write last output', async () => {
    const runId = `not-asked-${uniqueNap()}`;
    const live = await startShell(
      containment,
      'trap "echo asked; exit 0" TERM; echo ready; while :; do sleep 0.02; done',
      {
        runId,
      },
    );
    await nextLine(live);
    expect(await endRunsAtOnce([runId], deps)).toMatchObject({ left: [] });
    expect(await Array.fromAsync(live.lines)).toEqual([]);
  });

  it('are ended although the machine stood still until all the time for it was over', async () => {
    const runId = `stood-still-${uniqueNap()}`;
    const live = await startShell(containment, 'echo ready; cat', { runId });
    await nextLine(live);
    let now = 0;
    const monotonic = (): number => {
      now += 60_000;
      return now;
    };
    expect(await endRunsAtOnce([runId], { clock: { ...systemClock, monotonic } })).toMatchObject({ left: [] });
    expect(pidsMarked(runId)).toEqual([]);
    expect(await live.exited).not.toMatchObject({ code: 0 });
  });
});

describe('ending runs at once', () => {
  it('ends nothing when there is nothing to end', async () => {
    expect(await endRunsAtOnce([], deps)).toEqual({ ended: 0, left: [] });
    expect(await endRunsAtOnce(['', 'no such run'], deps)).toEqual({ ended: 0, left: [] });
  });

  it('ends a process that restarts each time it dies', async () => {
    const runId = `multiplies-${uniqueNap()}`;
    const live = await startShell(
      'marker_sweep',
      `echo ready; for each in 1 2 3; do setsid sh -c 'while :; do setsid sleep 300 & sleep 0.01; done' & done; cat`,
      { runId },
    );
    await nextLine(live);
    await until(() => pidsMarked(runId).length > 10, 'it multiplies');
    expect(await endRunsAtOnce([runId], deps)).toMatchObject({ left: [] });
    expect(pidsMarked(runId)).toEqual([]);
    await live.exited;
  });
});
