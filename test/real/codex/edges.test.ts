// @module-tag full
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { shell } from '../../fake/openai/scenario.ts';
import { describeWithCodex } from '../codex-binary.ts';
import { readWorkspace, useCodexScenes } from './codex-scene.ts';

await describeWithCodex('the edges of a real session', (codex) => {
  const makeScene = useCodexScenes(codex);

  it('does not start with broken settings, and names them as the cause', async () => {
    const scene = await makeScene();
    appendFileSync(path.join(scene.folder, 'codex-home', 'config.toml'), '[broken\n');
    await expect(scene.open()).rejects.toMatchObject({
      code: 'agent_launch_failed',
      message: expect.stringMatching(/config/i),
    });
  });

  it('does not start when the program is missing, and reports the message of the shell', async () => {
    const scene = await makeScene({ options: { command: 'codex-that-is-not-there app-server' } });
    const opening = scene.open();
    await expect(opening).rejects.toMatchObject({ code: 'agent_launch_failed' });
    const error = await opening.catch((thrown: unknown) => thrown);
    expect(JSON.stringify(error)).toContain('codex-that-is-not-there');
  });

  it('can be cancelled while it starts, and leaves nothing', async () => {
    for (const delayMs of [0, 30, 120]) {
      const scene = await makeScene();
      await expect(scene.open({ signal: AbortSignal.timeout(delayMs) })).rejects.toThrow();
    }
  });

  it('cancels a turn at any moment of its start, and runs the next one', async () => {
    const rules = [{ when: /long/, steps: [{ message: 'one moment', fault: { kind: 'hang' } as const }] }];
    const scene = await makeScene({ scenario: { rules } });
    const { session, complete } = await scene.open();
    // Codex refuses to interrupt a turn that it has accepted but not started, so one attempt is not enough.
    for (const delayMs of [0, 5, 20, 60]) {
      expect(await session.runTurn('Something long.', AbortSignal.timeout(delayMs))).toEqual({ status: 'cancelled' });
      expect(await complete('Something short.')).toBe('ok');
    }
  });

  it('reports a prompt that is too large for Codex as a context problem', async () => {
    const scene = await makeScene();
    const { session, complete } = await scene.open();
    expect(await session.runTurn('x'.repeat(1_100_000))).toMatchObject({
      status: 'failed',
      error: { code: 'agent_context_exhausted', details: { kind: 'context' } },
    });
    expect(await complete('Something short.')).toBe('ok');
  });

  // Isolated, the numbers of its processes mean nothing out here.
  it.skipIf(process.env.BATON_TEST_ISOLATED !== undefined)(
    'ends a command that the model left running when it ended its turn',
    async () => {
      const leave = { calls: [shell('echo $$ > pid.txt; sleep 324', { yield_time_ms: 250 })] };
      const scene = await makeScene({ scenario: { otherwise: [leave, { message: 'it runs' }] } });
      const { session, complete } = await scene.open();
      expect(await complete('Start it.')).toBe('it runs');
      const pid = Number(readWorkspace(scene, 'pid.txt'));
      expect(() => process.kill(pid, 0)).not.toThrow();
      await session.stop();
      expect(() => process.kill(pid, 0)).toThrow();
    },
  );

  it('runs several sessions of one account at once', async () => {
    const scenario = { otherwise: [{ calls: [shell('sleep 0.2; echo done')] }, { message: 'done' }] };
    const scene = await makeScene({ scenario });
    // The first start in a new home creates its database; Codex itself fails if several do that at once.
    await (await scene.open()).session.stop();
    const opened = await Promise.all([1, 2, 3, 4].map(() => scene.open()));
    expect(await Promise.all(opened.map(({ complete }, index) => complete(`Task ${index}.`)))).toEqual(
      opened.map(() => 'done'),
    );
    expect(new Set(opened.map(({ session }) => session.threadId)).size).toBe(4);
  });

  // @conforms real.23
  it('hides a tracker secret that a login shell would restore', async () => {
    const scene = await makeScene({
      scenario: { otherwise: [{ calls: [shell('env > env.txt')] }, { message: 'done' }] },
      denyEnv: ['TRACKER_KEY'],
    });
    const profile = 'export TRACKER_KEY=canary\nexport OTHER=brought\n';
    writeFileSync(path.join(scene.folder, 'user-home', '.bash_profile'), profile);
    const { complete } = await scene.open();
    await complete('Look around.');
    expect(readWorkspace(scene, 'env.txt')).not.toContain('canary');
    expect(readWorkspace(scene, 'env.txt')).toContain('OTHER=brought');
  });

  // @conforms codex.6
  it('starts no program that a repository names in its settings, neither at first nor when the thread is resumed', async () => {
    const scene = await makeScene();
    const settings = path.join(scene.folder, 'codex-home', 'config.toml');
    // As on a person's machine: no one has decided yet whether to trust this folder.
    const before = readFileSync(settings, 'utf8').replace(/\[projects\.[^\n]*\n(?:[^[\n][^\n]*\n?)*/g, '');
    writeFileSync(settings, before);
    const mark = path.join(scene.folder, 'was-here.txt');
    mkdirSync(path.join(scene.workspace, '.codex'));
    const program = `[mcp_servers.stranger]\ncommand = "/bin/sh"\nargs = ["-c", "echo here > ${mark}; sleep 5"]\n`;
    writeFileSync(path.join(scene.workspace, '.codex', 'config.toml'), program);
    const first = await scene.open();
    expect(await first.complete('Go.')).toBe('ok');
    await first.session.stop();
    const { session, complete } = await scene.open({ threadId: first.session.threadId });
    expect(session.isResumed).toBe(true);
    expect(await complete('Go on.')).toBe('ok');
    expect(existsSync(mark)).toBe(false);
    expect(readFileSync(settings, 'utf8')).not.toContain('"trusted"');
  });
});
