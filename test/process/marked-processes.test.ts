import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { listMarkedProcesses, processesOfRun } from '../../src/process/marked-processes.ts';
import { signalGroup, signalProcess } from '../../src/process/send-signal.ts';
import { sweepRun } from '../../src/process/sweep-run.ts';
import {
  describeUnderEachCustody,
  endChildrenAfterEachTest,
  nextLine,
  pidsMarked,
  startShell,
  uniqueNap,
} from './real-children.ts';

endChildrenAfterEachTest();

const deps = { clock: systemClock };

describeUnderEachCustody('processes found by their marker', (custody) => {
  it('are listed with pid, start time and run', async () => {
    const runId = `listed-${uniqueNap()}`;
    const live = await startShell(custody, 'echo ready; read line', { runId });
    await nextLine(live);
    const listed = (await listMarkedProcesses(deps)).filter((found) => found.runId === runId);
    expect(listed).toContainEqual({ pid: live.pid, startTime: live.startTime, runId });
    expect(listed.map((found) => found.pid).sort()).toEqual(pidsMarked(runId).sort());
  });

  it('are ended by a sweep alone, as after a crash of the daemon', async () => {
    const runId = `swept-${uniqueNap()}`;
    const live = await startShell(custody, 'setsid sleep 300 & echo ready; cat', { runId });
    await nextLine(live);
    expect(await sweepRun(runId, deps)).toMatchObject({ left: 0 });
    expect(pidsMarked(runId)).toEqual([]);
    await live.exited;
  });
});

describe('a sweep', () => {
  it('leaves a run alone whose id only begins the same', async () => {
    const runId = `run-${uniqueNap()}`;
    const live = await startShell('marker_sweep', 'echo ready; cat', { runId: `${runId}-longer` });
    await nextLine(live);
    expect(await sweepRun(runId, deps)).toEqual({ ended: 0, left: 0 });
    await live.write('still here\n');
    expect(await nextLine(live)).toBe('still here');
  });

  it('never touches the daemon itself, whatever its marker', async () => {
    expect(await processesOfRun('no such run', systemClock, { pid: process.pid, startTime: 0 })).not.toContainEqual(
      expect.objectContaining({ pid: process.pid }),
    );
  });
});

describe('the start time', () => {
  it('keeps a signal from a process that only has the same pid', async () => {
    const live = await startShell('marker_sweep', 'trap "exit 8" TERM; echo ready; cat; echo alive; exit 0');
    await nextLine(live);
    const startTime = (live.startTime ?? 0) - 1;
    signalProcess({ pid: live.pid, startTime }, 'SIGKILL');
    signalGroup({ pid: live.pid, startTime }, 'SIGKILL');
    live.closeStdin();
    expect(await nextLine(live)).toBe('alive');
    expect(await live.exited).toEqual({ code: 0, signal: null });
  });

  it('keeps the session of an earlier run from being taken for one of the same number', async () => {
    const runId = `session-${uniqueNap()}`;
    const live = await startShell('marker_sweep', 'echo ready; cat', { runId });
    await nextLine(live);
    const startTime = live.startTime ?? 0;
    expect(await processesOfRun('another', systemClock, { pid: live.pid, startTime })).not.toEqual([]);
    expect(await processesOfRun('another', systemClock, { pid: live.pid, startTime: startTime - 1 })).toEqual([]);
  });
});
