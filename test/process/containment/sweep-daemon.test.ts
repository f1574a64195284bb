import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { findProcesses, keyOf, ownAncestry } from '../../../src/process/containment/marked-processes.ts';
import type { ProcessEntry } from '../../../src/process/containment/process-table.ts';
import { sweepDaemon } from '../../../src/process/containment/sweep.ts';
import {
  describeWithEachContainment,
  endChildrenAfterEachTest,
  nextLine,
  pidsOfDaemon,
  pidsWithArgument,
  startShell,
  uniqueNap,
  until,
} from '../real-children.ts';

endChildrenAfterEachTest();

const deps = { clock: systemClock };
const hasty = { graceMs: 200 };

describeWithEachContainment('a process that a previous daemon left behind', (containment) => {
  // @conforms claims.19
  it('is ended in any run, also in its own session and as an orphan', async () => {
    const daemonId = `daemon-${uniqueNap()}`;
    const nap = uniqueNap();
    const lives = [
      await startShell(containment, `setsid sleep ${nap} & cat`, { daemonId }),
      await startShell(containment, `(setsid sh -c 'trap "" TERM; sleep ${nap}; :' &); cat`, { daemonId }),
      await startShell(containment, `env -i PATH="$PATH" setsid sleep ${nap} & cat`, { daemonId }),
      await startShell(containment, `setsid sh -c 'trap "" TERM; env -i PATH="$PATH" setsid sleep ${nap}; :' & cat`, {
        daemonId,
      }),
      await startShell(containment, `(env -i PATH="$PATH" sleep ${nap} &); cat`, { daemonId }),
    ];
    await until(() => pidsWithArgument(nap).length === lives.length, 'all run');
    expect(pidsOfDaemon(daemonId).length).toBeGreaterThanOrEqual(lives.length);

    const { ended, left } = await sweepDaemon(daemonId, deps, hasty);
    expect(left).toEqual([]);
    expect(ended).toBeGreaterThanOrEqual(2 * lives.length);
    expect(pidsOfDaemon(daemonId)).toEqual([]);
    expect(pidsWithArgument(nap)).toEqual([]);
    await Promise.all(lives.map((live) => live.exited));
  });

  // @conforms claims.20
  it('is distinguished from a process of another daemon, even with the same run id', async () => {
    const daemonId = `daemon-${uniqueNap()}`;
    const runId = `shared-${uniqueNap()}`;
    const other = await startShell(containment, 'trap "echo asked" TERM; echo ready; cat', {
      daemonId: `${daemonId}-2`,
      runId,
    });
    const own = await startShell(containment, 'echo ready; cat', { daemonId, runId });
    await nextLine(other);
    await nextLine(own);
    expect(await sweepDaemon(daemonId, deps)).toMatchObject({ left: [] });
    await own.exited;
    await other.write('still here\n');
    expect(await nextLine(other)).toBe('still here');
  });
});

describe('a sweep of a daemon', () => {
  it('attributes processes without markers, or with those of an inner Baton, to their outer run', async () => {
    const [daemonId, runId, nap] = [`daemon-${uniqueNap()}`, `run-${uniqueNap()}`, uniqueNap()];
    const inner = 'env BATON_RUN_ID=inner BATON_DAEMON_ID=inner setsid';
    const bare = 'env -i PATH="$PATH" setsid';
    const script = `${inner} sleep ${nap} & ${bare} sleep ${nap} & exec cat`;
    onTestFinished(() => pidsWithArgument(nap).forEach((pid) => void process.kill(pid, 'SIGKILL')));
    const live = await startShell('marker_sweep', script, { daemonId, runId });
    await until(() => pidsWithArgument(nap).length === 2, 'both run');
    const look = { isMarked: (entry: ProcessEntry) => entry.daemonId === daemonId, spared: ownAncestry() };
    const { members } = await findProcesses({ ...look, known: new Map() }, systemClock);
    expect(members.map(({ pid }) => pid).toSorted()).toEqual([live.pid, ...pidsWithArgument(nap)].toSorted());
    expect(members.map((member) => member.runId)).toEqual([runId, runId, runId]);

    // Also when the process that started them is gone.
    process.kill(live.pid, 'SIGKILL');
    await live.exited;
    const known = new Map(members.map((member) => [keyOf(member), member]));
    const later = await findProcesses({ ...look, known }, systemClock);
    expect(later.members.map((member) => member.runId)).toEqual([runId, runId]);
  });

  it('waits for the grace period before it ends a process that ignores TERM, and lets another one clean up', async () => {
    const daemonId = `daemon-${uniqueNap()}`;
    const deaf = await startShell('marker_sweep', 'trap "" TERM; echo ready; while :; do sleep 0.02; done', {
      daemonId,
    });
    const polite = await startShell('marker_sweep', 'trap "exit 3" TERM; echo ready; while :; do sleep 0.02; done', {
      daemonId,
    });
    await nextLine(deaf);
    await nextLine(polite);
    expect(await sweepDaemon(daemonId, deps)).toMatchObject({ left: [] });
    expect(await deaf.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(await polite.exited).toEqual({ code: 3, signal: null });
  });

  it('finds nothing without a matching marker, and an empty marker matches nothing', async () => {
    const live = await startShell('marker_sweep', 'echo ready; cat', { daemonId: '' });
    await nextLine(live);
    expect(await sweepDaemon('', deps)).toEqual({ ended: 0, left: [] });
    expect(await sweepDaemon(`no-daemon-${uniqueNap()}`, deps)).toEqual({ ended: 0, left: [] });
    await live.write('still here\n');
    expect(await nextLine(live)).toBe('still here');
  });
});

describeWithEachContainment('a Baton inside an agent', (containment) => {
  // @conforms claims.21
  it('marks its own children, and ends them without harm to the agent or itself', async () => {
    const [outer, inner, nap] = [`outer-${uniqueNap()}`, `inner-${uniqueNap()}`, uniqueNap()];
    const agent = await startAgent(outer, inner, nap);
    const told = JSON.parse(await nextLine(agent));
    expect(told).toMatchObject({ markers: `${inner} inner-run`, swept: { left: [] }, exit: { signal: 'SIGTERM' } });
    expect(pidsWithArgument(nap)).toEqual([]);
    await agent.write('still here\n');
    expect(await nextLine(agent)).toBe('still here');
  });

  // @conforms claims.22
  it('never ends the agent that started it, even one of its own previous daemon, and reports it as left', async () => {
    const daemonId = `same-${uniqueNap()}`;
    const nap = uniqueNap();
    const agent = await startAgent(daemonId, daemonId, nap, `sleep ${nap} &`);
    const { swept, pid } = JSON.parse(await nextLine(agent));
    expect(swept.left.length).toBeGreaterThan(0);
    expect(swept.left).toContainEqual(expect.objectContaining({ runId: 'outer-run' }));
    expect(swept.left).not.toContainEqual(expect.objectContaining({ pid }));
    // Its own child, and what the agent started next to it.
    expect(swept.ended).toBe(2);
    expect(pidsWithArgument(nap)).toEqual([]);
    await agent.write('still here\n');
    expect(await nextLine(agent)).toBe('still here');
  });

  /** An agent that is a shell: does something first, runs a Baton to its end, then answers. */
  function startAgent(outer: string, inner: string, nap: string, first = '') {
    const file = path.join(import.meta.dirname, '..', 'fixtures', 'baton-in-agent.mjs');
    const args = ['-c', `${first} "$0" "$1" "$2" "$3"; cat`, process.execPath, file, inner, `nap=${nap}`];
    return startShell(containment, '', { args, daemonId: outer, runId: 'outer-run' });
  }
});
