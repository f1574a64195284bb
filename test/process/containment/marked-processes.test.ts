import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { isAlive } from '../../../src/process/containment/is-alive.ts';
import {
  findProcesses,
  listMarkedProcesses,
  ownAncestry,
  type SessionLeader,
} from '../../../src/process/containment/marked-processes.ts';
import { startTimeOf } from '../../../src/process/containment/process-table.ts';
import { signalGroup, signalProcess } from '../../../src/process/containment/send-signal.ts';
import { sweepRun } from '../../../src/process/containment/sweep.ts';
import { findProgram } from '../../../src/process/find-program.ts';
import {
  describeWithEachContainment,
  endChildrenAfterEachTest,
  isZombie,
  nextLine,
  pidsMarked,
  pidsWithArgument,
  startProgram,
  startShell,
  startZombie,
  testEnv,
  uniqueNap,
  until,
} from '../real-children.ts';

endChildrenAfterEachTest();

const deps = { clock: systemClock };

const python = await findProgram('python3', { cwd: '/', path: testEnv.PATH });

describeWithEachContainment('processes with a marker', (containment) => {
  it('are listed with pid, start time and run', async () => {
    const runId = `listed-${uniqueNap()}`;
    const live = await startShell(containment, 'echo ready; read line', { runId });
    await nextLine(live);
    const listed = (await listMarkedProcesses(deps)).filter((found) => found.runId === runId);
    expect(listed).toContainEqual({ pid: live.pid, startTime: live.startTime, runId });
    expect(listed.map((found) => found.pid).sort()).toEqual(pidsMarked(runId).sort());
  });

  // @conforms process.6
  it('are ended by a sweep alone, as after a crash of the daemon', async () => {
    const runId = `swept-${uniqueNap()}`;
    const live = await startShell(containment, 'setsid sleep 300 & echo ready; cat', { runId });
    await nextLine(live);
    expect(await sweepRun(runId, deps)).toMatchObject({ left: 0 });
    expect(pidsMarked(runId)).toEqual([]);
    await live.exited;
  });
});

describe('a sweep', () => {
  it('ignores a run whose id only begins the same', async () => {
    const runId = `run-${uniqueNap()}`;
    const live = await startShell('marker_sweep', 'echo ready; cat', { runId: `${runId}-longer` });
    await nextLine(live);
    expect(await sweepRun(runId, deps)).toEqual({ ended: 0, left: 0 });
    await live.write('still here\n');
    expect(await nextLine(live)).toBe('still here');
  });

  it('never ends the daemon itself, even if it is given as the leader of the run', async () => {
    const startTime = startTimeOf(process.pid) ?? 0;
    const look = {
      isMarked: () => false,
      known: new Map(),
      spared: ownAncestry(),
      leader: { pid: process.pid, startTime },
    };
    expect((await findProcesses(look, systemClock)).members).not.toContainEqual(
      expect.objectContaining({ pid: process.pid }),
    );
  });

  // @conforms X5
  it('ends a child without a marker that ignores the TERM that ends its parent', async () => {
    const runId = `orphan-${uniqueNap()}`;
    const nap = uniqueNap();
    const deaf = `trap "" TERM; sleep ${nap}; :`;
    const live = await startShell('marker_sweep', `env -i PATH="$PATH" setsid sh -c '${deaf}' & cat`, { runId });
    await until(() => pidsWithArgument(nap).length > 0, 'the grandchild runs');
    expect(await sweepRun(runId, deps, { graceMs: 300 })).toMatchObject({ left: 0 });
    expect(pidsWithArgument(nap)).toEqual([]);
    await live.exited;
  });

  it('ends an orphan without a marker that shares a session with a process of the run', async () => {
    const runId = `session-mate-${uniqueNap()}`;
    const nap = uniqueNap();
    const live = await startShell('marker_sweep', `(env -i PATH="$PATH" sleep ${nap} &); cat`, { runId });
    await until(() => pidsWithArgument(nap).length > 0, 'the orphan runs');
    expect(await sweepRun(runId, deps)).toMatchObject({ left: 0 });
    expect(pidsWithArgument(nap)).toEqual([]);
    await live.exited;
  });

  it('counts a zombie as ended', async () => {
    const runId = `collected-${uniqueNap()}`;
    const { pid } = await startZombie(runId);
    expect(await sweepRun(runId, deps)).toEqual({ ended: 0, left: 0 });
    expect(isZombie(pid)).toBe(true);
  });

  it.skipIf(python === null)(
    'ends a process whose first thread has ended, which the kernel shows as a zombie',
    async () => {
      const runId = `headless-${uniqueNap()}`;
      const file = path.join(import.meta.dirname, '..', 'fixtures', 'headless.py');
      const live = await startProgram('marker_sweep', { command: python ?? '', args: [file], runId });
      await nextLine(live);
      await until(() => isZombie(live.pid), 'its first thread has ended');
      expect(isAlive(live)).toBe(true);
      expect(await sweepRun(runId, deps, { graceMs: 100 })).toEqual({ ended: 1, left: 0 });
      expect(await live.exited).toEqual({ code: null, signal: 'SIGKILL' });
    },
  );
});

describe('the start time', () => {
  // @conforms process.5
  it('prevents a signal to another process with the same pid', async () => {
    const live = await startShell('marker_sweep', 'trap "exit 8" TERM; echo ready; cat; echo alive; exit 0');
    await nextLine(live);
    const startTime = (live.startTime ?? 0) - 1;
    signalProcess({ pid: live.pid, startTime }, 'SIGKILL');
    signalGroup({ pid: live.pid, startTime }, 'SIGKILL');
    live.closeStdin();
    expect(await nextLine(live)).toBe('alive');
    expect(await live.exited).toEqual({ code: 0, signal: null });
  });

  it('prevents that the session of an earlier run is confused with one of the same number', async () => {
    const runId = `session-${uniqueNap()}`;
    const live = await startShell('marker_sweep', 'echo ready; cat', { runId });
    await nextLine(live);
    const startTime = live.startTime ?? 0;
    const look = (leader: SessionLeader) =>
      findProcesses({ isMarked: () => false, known: new Map(), spared: ownAncestry(), leader }, systemClock);
    expect((await look({ pid: live.pid, startTime })).members).not.toEqual([]);
    expect((await look({ pid: live.pid, startTime: startTime - 1 })).members).toEqual([]);
  });
});
