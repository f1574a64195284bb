import { expect, it } from 'vitest';
import {
  allLines,
  describeWithEachContainment,
  endChildrenAfterEachTest,
  hurried,
  isSuspended,
  nextLine,
  pidsMarked,
  pidsWithArgument,
  startFixture,
  startShell,
  uniqueNap,
  until,
} from './real-children.ts';

endChildrenAfterEachTest();

describeWithEachContainment('stopping', (containment) => {
  it('needs no signal for a program that ends when its input closes', async () => {
    const live = await startShell(containment, 'cat; exit 5');
    expect(await live.stop({ closeStdinMs: 20_000 })).toEqual({
      how: 'closed_stdin',
      survivorsEnded: 0,
      survivorsLeft: 0,
    });
    expect(await live.exited).toEqual({ code: 5, signal: null });
  });

  it('lets a program that handles TERM finish and write last output', async () => {
    const live = await startShell(
      containment,
      'trap "echo bye; exit 3" TERM; echo ready; while :; do sleep 0.02; done',
    );
    expect(await nextLine(live)).toBe('ready');
    const rest = allLines(live);
    expect(await live.stop({ closeStdinMs: 0, terminateMs: 20_000 })).toMatchObject({ how: 'terminated' });
    expect((await rest).map((line) => line.text)).toEqual(['bye']);
    expect(await live.exited).toEqual({ code: 3, signal: null });
  });

  // @conforms 2.14
  it('kills a program that ignores TERM', async () => {
    const live = await startShell(containment, 'trap "" TERM; echo ready; while :; do sleep 0.02; done');
    await nextLine(live);
    expect(await live.stop(hurried)).toMatchObject({ how: 'killed', survivorsLeft: 0 });
    expect(await live.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('kills a suspended program', async () => {
    const runId = `suspended-${uniqueNap()}`;
    const live = await startShell(containment, 'kill -STOP $$; exit 0', { runId });
    await until(() => pidsMarked(runId).some(isSuspended), 'it is suspended');
    expect(await live.stop(hurried)).toMatchObject({ how: 'killed', survivorsLeft: 0 });
  });

  it.each(['a reader', 'nobody'])('ends a program that writes without end to %s', async (audience) => {
    // Its last output does not fit into a pipe: it can end only if someone reads it.
    const lastWords = 'head -c 1000000 /dev/zero; exit 6';
    const script = `trap '${lastWords}' TERM; echo ready >&2; while :; do echo again; done`;
    const live = await startShell(containment, script);
    await until(() => live.stderrTail() !== '', 'it is ready');
    const rest = audience === 'a reader' ? allLines(live) : null;
    expect(await live.stop({ closeStdinMs: 0, terminateMs: 20_000 })).toMatchObject({ how: 'terminated' });
    expect(await live.exited).toMatchObject({ code: 6 });
    await rest;
  });

  it('returns the same report when called twice, and stops the program once', async () => {
    const live = await startShell(
      containment,
      'trap "echo term; exit 0" TERM; echo ready; while :; do sleep 0.02; done',
    );
    await nextLine(live);
    const rest = allLines(live);
    const [first, second] = await Promise.all([live.stop(hurried), live.stop({ closeStdinMs: 20_000 })]);
    expect(second).toBe(first);
    expect(await live.stop()).toBe(first);
    expect((await rest).map((line) => line.text)).toEqual(['term']);
  });

  it('leaves nothing behind right after the start', async () => {
    const live = await startFixture(containment, 'flood.mjs', ['stdout', '100']);
    expect(await live.stop(hurried)).toMatchObject({ survivorsLeft: 0 });
  });
});

describeWithEachContainment('a process that a program leaves behind', (containment) => {
  const inNamespace = containment !== 'marker_sweep';

  it('is ended by stopping the program, after the program forked and exited', async () => {
    const nap = uniqueNap();
    const live = await startShell(containment, `sleep ${nap} >/dev/null 2>&1 & exit 0`);
    expect(await live.exited).toEqual({ code: 0, signal: null });
    expect(await live.stop()).toEqual({
      how: 'already_exited',
      survivorsEnded: inNamespace ? 0 : 1,
      survivorsLeft: 0,
    });
    expect(pidsWithArgument(nap)).toEqual([]);
  });

  // @conforms process.4
  it('neither delays the exit nor keeps the lines open, as a daemon that holds the output', async () => {
    const nap = uniqueNap();
    const live = await startShell(containment, `(setsid sleep ${nap} &); echo done; exit 2`);
    expect(await live.exited).toEqual({ code: 2, signal: null });
    expect((await allLines(live)).map((line) => line.text)).toEqual(['done']);
    await live.stop();
    expect(pidsWithArgument(nap)).toEqual([]);
  });

  it('does not keep the lines open, as a daemon that writes for ever', async () => {
    const live = await startShell(containment, 'setsid yes again & exit 0');
    expect((await allLines(live)).every((line) => line.text === 'again' || !line.complete)).toBe(true);
    expect(await live.stop()).toMatchObject({ survivorsLeft: 0 });
  });

  // @conforms X5
  it('is ended in its own session although it ignores TERM', async () => {
    const nap = uniqueNap();
    const live = await startShell(containment, `setsid sh -c 'trap "" TERM; sleep ${nap}; :' & cat`);
    await until(() => pidsWithArgument(nap).length > 0, 'the grandchild runs');
    expect(await live.stop(hurried)).toMatchObject({ survivorsLeft: 0 });
    expect(pidsWithArgument(nap)).toEqual([]);
  });

  it('is ended without a marker in the session of the program', async () => {
    const nap = uniqueNap();
    const live = await startShell(containment, `trap "" TERM; env -i PATH="$PATH" sleep ${nap} & exit 0`);
    await live.exited;
    expect(await live.stop(hurried)).toMatchObject({ survivorsLeft: 0 });
    expect(pidsWithArgument(nap)).toEqual([]);
  });

  it('is ended without a marker below a process that has one', async () => {
    const nap = uniqueNap();
    const live = await startShell(
      containment,
      `setsid sh -c 'trap "" TERM; env -i PATH="$PATH" setsid sleep ${nap}; :' & cat`,
    );
    await until(() => pidsWithArgument(nap).length > 0, 'the grandchild runs');
    expect(await live.stop(hurried)).toMatchObject({ survivorsLeft: 0 });
    expect(pidsWithArgument(nap)).toEqual([]);
  });

  it('is ended without a marker in its own session although its parent ends first', async () => {
    const nap = uniqueNap();
    const live = await startShell(containment, `env -i PATH="$PATH" setsid sleep ${nap} & cat`);
    await until(() => pidsWithArgument(nap).length > 0, 'the grandchild runs');
    expect(await live.stop({ closeStdinMs: 20_000 })).toMatchObject({ how: 'closed_stdin', survivorsLeft: 0 });
    const escaped = pidsWithArgument(nap);
    for (const pid of escaped) process.kill(pid, 'SIGKILL');
    expect(escaped).toEqual([]);
  });

  it('is ended although it restarts its worker each time the worker dies', async () => {
    const runId = `hydra-${uniqueNap()}`;
    const live = await startShell(
      containment,
      `setsid sh -c 'trap "" TERM; while :; do sh -c "trap - TERM; sleep 300"; done' & cat`,
      { runId },
    );
    await until(() => pidsMarked(runId).length >= 3, 'the worker runs');
    expect(await live.stop(hurried)).toMatchObject({ survivorsLeft: 0 });
    expect(pidsMarked(runId)).toEqual([]);
  });
});
