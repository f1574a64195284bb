import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/clock/system-clock.ts';
import { type RunRequest, runToEnd } from '../../src/process/run-to-end.ts';
import {
  describeWithEachContainment,
  pidsMarked,
  pidsWithArgument,
  testDaemon,
  testEnv,
  uniqueNap,
  until,
} from './real-children.ts';

describeWithEachContainment('a short program', (containment) => {
  const run = (script: string, more: Partial<RunRequest> = {}) => {
    const program = { command: 'sh', args: ['-c', script], cwd: tmpdir(), env: testEnv, runId: `short-${uniqueNap()}` };
    return runToEnd(
      { ...program, timeoutMs: 20_000, ...more },
      { clock: systemClock, containment, daemonId: testDaemon },
    );
  };

  it('returns its outputs, byte for byte, and its exit code', async () => {
    expect(await run('printf "a\\r\\nb\\000c\\n\\n"; echo wrong >&2; exit 3')).toEqual({
      code: 3,
      signal: null,
      stdout: 'a\r\nb\0c\n\n',
      stderr: 'wrong\n',
      timedOut: false,
      truncated: false,
      survivorsEnded: 0,
    });
  });

  it('reads its input', async () => {
    expect(await run('cat', { stdin: 'hello' })).toMatchObject({ stdout: 'hello', code: 0 });
  });

  it('is ended as soon as it has written too much, if the caller asks for that', async () => {
    const result = await run('yes', { maxOutputBytes: 1000, endsWhenTooLong: true });
    expect(result).toMatchObject({ truncated: true, timedOut: false });
    expect(result.stdout).toHaveLength(1000);
  });

  it('runs to its end when it writes too much, and its output is cut', async () => {
    const result = await run('head -c 3000000 /dev/zero; echo end >&2; exit 4', { maxOutputBytes: 1000 });
    expect(result).toMatchObject({ code: 4, truncated: true, stderr: 'end\n' });
    expect(result.stdout.length).toBe(1000);
  });

  it('is ended on timeout with everything it started', async () => {
    const nap = uniqueNap();
    const result = await run(`echo begun; setsid sleep ${nap} & sleep ${nap}`, { timeoutMs: 300 });
    expect(result).toMatchObject({ timedOut: true, stdout: 'begun\n' });
    expect(pidsWithArgument(nap)).toEqual([]);
  });

  it('is not kept waiting for a process it left behind, even if that keeps the output open', async () => {
    const nap = uniqueNap();
    const result = await run(`sleep ${nap} & echo done`);
    expect(result).toMatchObject({ code: 0, stdout: 'done\n', timedOut: false });
    expect(pidsWithArgument(nap)).toEqual([]);
  });

  it('is ended on abort, and rejects with the reason', async () => {
    const runId = `called-off-${uniqueNap()}`;
    const controller = new AbortController();
    const result = run('sleep 300', { runId, signal: controller.signal });
    await until(() => pidsMarked(runId).length > 0, 'the program runs');
    controller.abort(new Error('called off'));
    await expect(result).rejects.toThrow('called off');
    expect(pidsMarked(runId)).toEqual([]);
  });

  it('is ended on abort while it is being started', async () => {
    const runId = `called-off-early-${uniqueNap()}`;
    const controller = new AbortController();
    const result = run('sleep 300', { runId, signal: controller.signal, timeoutMs: 300_000 });
    controller.abort(new Error('called off'));
    await expect(result).rejects.toThrow('called off');
    expect(pidsMarked(runId)).toEqual([]);
  });

  it('fails with process_spawn_failed when it is missing', async () => {
    await expect(run('', { command: 'no-such-program' })).rejects.toMatchObject({ code: 'process_spawn_failed' });
  });
});
