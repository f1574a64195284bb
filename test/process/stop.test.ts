import { expect, it } from 'vitest';
import {
  allLines,
  describeUnderEachCustody,
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

describeUnderEachCustody('stopping', (custody) => {
  it('a program that ends when its input closes needs no signal', async () => {
    const live = await startShell(custody, 'cat; exit 5');
    expect(await live.stop({ closeStdinMs: 20_000 })).toEqual({
      how: 'closed_stdin',
      survivorsEnded: 0,
      survivorsLeft: 0,
    });
    expect(await live.exited).toEqual({ code: 5, signal: null });
  });

  it('a program that hears TERM ends in its own way and may have last words', async () => {
    const live = await startShell(custody, 'trap "echo bye; exit 3" TERM; echo ready; while :; do sleep 0.02; done');
    expect(await nextLine(live)).toBe('ready');
    const rest = allLines(live);
    expect(await live.stop({ closeStdinMs: 0, terminateMs: 20_000 })).toMatchObject({ how: 'terminated' });
    expect((await rest).map((line) => line.text)).toEqual(['bye']);
    expect(await live.exited).toEqual({ code: 3, signal: null });
  });

  // @conforms 2.14
  it('a program that ignores TERM is killed', async () => {
    const live = await startShell(custody, 'trap "" TERM; echo ready; while :; do sleep 0.02; done');
    await nextLine(live);
    expect(await live.stop(hurried)).toMatchObject({ how: 'killed', survivorsLeft: 0 });
    expect(await live.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('a program that is suspended is killed', async () => {
    const runId = `suspended-${uniqueNap()}`;
    const live = await startShell(custody, 'kill -STOP $$; exit 0', { runId });
    await until(() => pidsMarked(runId).some(isSuspended), 'it is suspended');
    expect(await live.stop(hurried)).toMatchObject({ how: 'killed', survivorsLeft: 0 });
  });

  it.each(['a reader', 'nobody'])('a program that writes without end to %s ends', async (audience) => {
    // Its last words do not fit into a pipe: it can only end when somebody takes them.
    const lastWords = 'head -c 1000000 /dev/zero; exit 6';
    const script = `trap '${lastWords}' TERM; echo ready >&2; while :; do echo again; done`;
    const live = await startShell(custody, script);
    await until(() => live.stderrTail() !== '', 'it is ready');
    const rest = audience === 'a reader' ? allLines(live) : null;
    expect(await live.stop({ closeStdinMs: 0, terminateMs: 20_000 })).toMatchObject({ how: 'terminated' });
    expect(await live.exited).toMatchObject({ code: 6 });
    await rest;
  });

  it('twice gives the same report, and the program is stopped once', async () => {
    const live = await startShell(custody, 'trap "echo term; exit 0" TERM; echo ready; while :; do sleep 0.02; done');
    await nextLine(live);
    const rest = allLines(live);
    const [first, second] = await Promise.all([live.stop(hurried), live.stop({ closeStdinMs: 20_000 })]);
    expect(second).toBe(first);
    expect(await live.stop()).toBe(first);
    expect((await rest).map((line) => line.text)).toEqual(['term']);
  });

  it('at once after the start leaves nothing', async () => {
    const live = await startFixture(custody, 'flood.mjs', ['stdout', '100']);
    expect(await live.stop(hurried)).toMatchObject({ survivorsLeft: 0 });
  });
});

describeUnderEachCustody('what a program leaves behind', (custody) => {
  const inNamespace = custody !== 'marker_sweep';

  it('when it forks and exits is ended by stopping it', async () => {
    const nap = uniqueNap();
    const live = await startShell(custody, `sleep ${nap} >/dev/null 2>&1 & exit 0`);
    expect(await live.exited).toEqual({ code: 0, signal: null });
    expect(await live.stop()).toEqual({
      how: 'already_exited',
      survivorsEnded: inNamespace ? 0 : 1,
      survivorsLeft: 0,
    });
    expect(pidsWithArgument(nap)).toEqual([]);
  });

  // @conforms process.4
  it('when it is a daemon that holds the output neither delays the exit nor keeps the lines open', async () => {
    const nap = uniqueNap();
    const live = await startShell(custody, `(setsid sleep ${nap} &); echo done; exit 2`);
    expect(await live.exited).toEqual({ code: 2, signal: null });
    expect((await allLines(live)).map((line) => line.text)).toEqual(['done']);
    await live.stop();
    expect(pidsWithArgument(nap)).toEqual([]);
  });

  it('when it is a daemon that writes for ever does not keep the lines open', async () => {
    const live = await startShell(custody, 'setsid yes again & exit 0');
    expect((await allLines(live)).every((line) => line.text === 'again' || !line.complete)).toBe(true);
    expect(await live.stop()).toMatchObject({ survivorsLeft: 0 });
  });

  // @conforms X5
  it('in a session of its own, deaf to TERM, is ended', async () => {
    const nap = uniqueNap();
    const live = await startShell(custody, `setsid sh -c 'trap "" TERM; sleep ${nap}; :' & cat`);
    await until(() => pidsWithArgument(nap).length > 0, 'the grandchild runs');
    expect(await live.stop(hurried)).toMatchObject({ survivorsLeft: 0 });
    expect(pidsWithArgument(nap)).toEqual([]);
  });

  it('without a marker, in the session of the program, is ended', async () => {
    const nap = uniqueNap();
    const live = await startShell(custody, `trap "" TERM; env -i PATH="$PATH" sleep ${nap} & exit 0`);
    await live.exited;
    expect(await live.stop(hurried)).toMatchObject({ survivorsLeft: 0 });
    expect(pidsWithArgument(nap)).toEqual([]);
  });

  it('without a marker, below a process that has one, is ended', async () => {
    const nap = uniqueNap();
    const live = await startShell(
      custody,
      `setsid sh -c 'trap "" TERM; env -i PATH="$PATH" setsid sleep ${nap}; :' & cat`,
    );
    await until(() => pidsWithArgument(nap).length > 0, 'the grandchild runs');
    expect(await live.stop(hurried)).toMatchObject({ survivorsLeft: 0 });
    expect(pidsWithArgument(nap)).toEqual([]);
  });

  it('without a marker, in a session of its own, is ended though its parent ends first', async () => {
    const nap = uniqueNap();
    const live = await startShell(custody, `env -i PATH="$PATH" setsid sleep ${nap} & cat`);
    await until(() => pidsWithArgument(nap).length > 0, 'the grandchild runs');
    expect(await live.stop({ closeStdinMs: 20_000 })).toMatchObject({ how: 'closed_stdin', survivorsLeft: 0 });
    const escaped = pidsWithArgument(nap);
    for (const pid of escaped) process.kill(pid, 'SIGKILL');
    expect(escaped).toEqual([]);
  });

  it('when it starts its worker anew as often as that dies is ended', async () => {
    const runId = `hydra-${uniqueNap()}`;
    const live = await startShell(
      custody,
      `setsid sh -c 'trap "" TERM; while :; do sh -c "trap - TERM; sleep 300"; done' & cat`,
      { runId },
    );
    await until(() => pidsMarked(runId).length >= 3, 'the worker runs');
    expect(await live.stop(hurried)).toMatchObject({ survivorsLeft: 0 });
    expect(pidsMarked(runId)).toEqual([]);
  });
});
