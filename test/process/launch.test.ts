import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import type { LaunchRequest } from '../../src/process/launch.ts';
import {
  allLines,
  describeWithEachContainment,
  endChildrenAfterEachTest,
  nextLine,
  startFixture,
  startProgram,
  startShell,
  until,
} from './real-children.ts';

endChildrenAfterEachTest();

const megabyte = 1024 * 1024;

/** Far below the hundred megabytes that pass through, far above the noise of a garbage collector. */
const boundedGrowthBytes = 80 * megabyte;

describeWithEachContainment('a program', (containment) => {
  const shell = (script: string, more?: Partial<LaunchRequest>) => startShell(containment, script, more);

  it('runs in its working directory, reads its input and returns its exit code', async () => {
    const live = await shell('pwd; cat; exit 7', { cwd: '/usr', stdin: { text: 'hello\nyou' } });
    expect((await allLines(live)).map((line) => line.text)).toEqual(['/usr', 'hello', 'you']);
    expect(await live.exited).toEqual({ code: 7, signal: null });
  });

  it('gets its arguments unchanged, even if a shell would expand them', async () => {
    const args = ['%s\\n', '$HOME', '`id`', '"; exit 3', '*', ''];
    const live = await startProgram(containment, { command: 'printf', args });
    expect((await allLines(live)).map((line) => line.text)).toEqual(args.slice(1));
  });

  it('has the pid and the start time that the kernel reports', async () => {
    const live = await shell('read line');
    const stat = readFileSync(`/proc/${live.pid}/stat`, 'utf8');
    expect(stat.split(') ')[1]?.split(' ')[19]).toBe(String(live.startTime));
  });

  it('gets a closed input when it is given none', async () => {
    const live = await shell('read line || echo ended', { stdin: 'none' });
    expect(await nextLine(live)).toBe('ended');
  });

  it('fails with process_spawn_failed when it is missing', async () => {
    const start = startProgram(containment, { command: 'no-such-program', args: ['a secret prompt'] });
    await expect(start).rejects.toMatchObject({
      code: 'process_spawn_failed',
      message: expect.stringContaining('no-such-program'),
      details: { program: 'no-such-program', cwd: tmpdir() },
    });
    await expect(start).rejects.not.toMatchObject({ message: expect.stringContaining('secret') });
  });

  it('fails with process_spawn_failed when it is not executable', async () => {
    const start = startProgram(containment, { command: '/etc/passwd', args: [] });
    await expect(start).rejects.toMatchObject({ code: 'process_spawn_failed' });
  });

  it('fails with an error that names the directory when its working directory is missing', async () => {
    const start = shell('true', { cwd: '/no/such/folder' });
    await expect(start).rejects.toMatchObject({
      code: 'process_spawn_failed',
      message: expect.stringContaining('/no/such/folder'),
    });
  });

  it('fails with an error, not a crash, when it has more arguments than the kernel accepts', async () => {
    const start = startProgram(containment, { command: 'true', args: ['x'.repeat(4 * megabyte)] });
    await expect(start).rejects.toMatchObject({ code: 'process_spawn_failed' });
  });
});

describeWithEachContainment('output', (containment) => {
  it('can be read after the program has exited', async () => {
    const live = await startShell(containment, 'echo first; echo second');
    await live.exited;
    expect((await allLines(live)).map((line) => line.text)).toEqual(['first', 'second']);
  });

  it('ends with an incomplete line when there is no last newline', async () => {
    const live = await startShell(containment, 'printf "whole\\nha"; printf lf');
    expect(await allLines(live)).toEqual([
      { text: 'whole', truncated: false, complete: true },
      { text: 'half', truncated: false, complete: false },
    ]);
  });

  it('keeps characters that arrive in pieces whole', async () => {
    const live = await startShell(containment, "printf '\\342'; read go; printf '\\202\\254\\n'");
    const line = nextLine(live);
    await live.write('go\n');
    expect(await line).toBe('€');
  });

  // @conforms A19
  it('passes a line of 5 MB whole', async () => {
    const live = await startFixture(containment, 'flood.mjs', ['stdout', '5']);
    const [line, last] = await allLines(live);
    expect(line).toMatchObject({ truncated: false, complete: true });
    expect(line?.text.length).toBe(5 * megabyte);
    expect(last?.text).toBe('last words');
  });

  // Garbage of other tests in this process is collected at any time, so one quiet attempt in three shows the bound.
  // @conforms X16
  it('cuts 100 MB without a newline, with little memory, and continues after it', { retry: 2 }, async () => {
    const before = process.memoryUsage.rss();
    const live = await startFixture(containment, 'flood.mjs', ['stdout', '100']);
    const [line, last] = await allLines(live);
    expect(process.memoryUsage.rss() - before).toBeLessThan(boundedGrowthBytes);
    expect(line).toMatchObject({ truncated: true, complete: false });
    expect(line?.text.length).toBe(16 * megabyte);
    expect(last).toEqual({ text: 'last words', truncated: false, complete: false });
  });

  it('makes the program wait instead of filling memory while no one reads', async () => {
    const live = await startFixture(containment, 'count-written.mjs');
    const written = () => Number(live.stderrTail().split('\n').at(-2) ?? 0);
    await nextLine(live);
    let last = 0;
    let still = 0;
    await until(() => {
      still = written() === last ? still + 1 : 0;
      last = written();
      return last > 0 && still > 40;
    }, 'the program stands still');
    expect(last).toBeLessThan(4 * megabyte);
    for (let line = 0; line < (2 * last) / 1024; line++) await nextLine(live);
    await until(() => written() > last, 'the program goes on');
  });

  it('does not keep the program from ending after the reader left', async () => {
    const live = await startFixture(containment, 'flood.mjs', ['stdout', '5']);
    for await (const line of live.lines) if (line) break;
    expect(await live.exited).toEqual({ code: 0, signal: null });
  });

  // @conforms spec-10.3
  it('never blocks the program on error output, and keeps the end of it', async () => {
    const before = process.memoryUsage.rss();
    const live = await startFixture(containment, 'flood.mjs', ['stderr', '100']);
    expect(await live.exited).toEqual({ code: 0, signal: null });
    await live.stop();
    expect(process.memoryUsage.rss() - before).toBeLessThan(boundedGrowthBytes);
    expect(live.stderrTail().length).toBe(16 * 1024);
    expect(live.stderrTail()).toMatch(/x\nlast words$/);
  });

  it('passes error output on as it comes, separate from standard output', async () => {
    const heard: string[] = [];
    const live = await startShell(containment, 'echo out; echo wrong >&2', { onStderr: (text) => heard.push(text) });
    expect((await allLines(live)).map((line) => line.text)).toEqual(['out']);
    await live.stop();
    expect(heard.join('')).toBe('wrong\n');
    expect(live.stderrTail()).toBe('wrong\n');
  });
});

describeWithEachContainment('input', (containment) => {
  it('is answered line by line', async () => {
    const live = await startShell(containment, 'while read line; do echo "got $line"; done; echo bye');
    await live.write('one\n');
    expect(await nextLine(live)).toBe('got one');
    live.closeStdin();
    expect(await nextLine(live)).toBe('bye');
  });

  // @conforms process.3
  it('fails with process_stdin_closed after the program has exited, without an unhandled error', async () => {
    const live = await startShell(containment, 'exit 0');
    await live.exited;
    void live.write('nobody waits for this one, and its failure must not end the process\n');
    await expect(live.write('too late\n')).rejects.toMatchObject({ code: 'process_stdin_closed' });
  });

  it('fails when the program exits during a write', async () => {
    const live = await startShell(containment, 'echo ready; read line; exit 4');
    await nextLine(live);
    await expect(live.write(`go\n${'x'.repeat(4 * megabyte)}`)).rejects.toMatchObject({
      code: 'process_stdin_closed',
    });
    expect(await live.exited).toMatchObject({ code: 4 });
  });

  it('never ends Baton when the program has closed its input, and stopping still works', async () => {
    const live = await startShell(containment, 'exec 0<&-; echo closed; while :; do sleep 1; done');
    expect(await nextLine(live)).toBe('closed');
    const writes = [1, 2, 3].map(() => live.write('x'.repeat(megabyte)));
    await live.stop({ closeStdinMs: 0 });
    for (const write of writes) await expect(write).rejects.toMatchObject({ code: 'process_stdin_closed' });
  });

  it('stops waiting for a program that does not read when the signal is aborted', async () => {
    const live = await startShell(containment, 'echo ready; while :; do sleep 1; done');
    await nextLine(live);
    const controller = new AbortController();
    const write = live.write('x'.repeat(4 * megabyte), controller.signal);
    controller.abort(new Error('enough'));
    await expect(write).rejects.toThrow('enough');
  });

  it('may be left unread when it is given as a text', async () => {
    const live = await startShell(containment, 'echo done', { stdin: { text: 'x'.repeat(megabyte) } });
    expect((await allLines(live)).map((line) => line.text)).toEqual(['done']);
    expect(await live.exited).toEqual({ code: 0, signal: null });
  });
});
