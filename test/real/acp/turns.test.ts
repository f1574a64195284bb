// @module-tag full
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { presets } from '../../../src/agent/acp/presets.ts';
import type { Step } from '../../fake/openai/scenario.ts';
import { pidsOfDaemon } from '../../process/real-children.ts';
import { type AcpProgram, describeWithAcp } from '../acp-programs.ts';
import { useAcpScenes } from './acp-scene.ts';

/** The names of the programs that a test started and that are alive. */
function commandsOf(daemonId: string): string[] {
  return pidsOfDaemon(daemonId).map((pid) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim());
}

/** The command for a person as a program can run it: with the program of the test, and one question. */
function byHand(command: string, { byHand: binary, preset }: AcpProgram): string {
  const ask = "'What was it?'";
  const text =
    preset === 'opencode'
      ? command.replace('opencode --session', `'${binary}' run ${ask} --session`)
      : command.replace('claude --resume', `'${binary}' -p ${ask} --resume`);
  return `${text} < /dev/null`;
}

const tellOutput: Step = { message: ({ lastOutput }) => lastOutput };

await describeWithAcp('turns of a real agent', (program) => {
  const makeScene = useAcpScenes(program);

  it('run in one conversation, with commands, changes and a long message, all in the transcript', async () => {
    const scene = await makeScene();
    const file = path.join(scene.workspace, 'new.txt');
    scene.model.play({
      rules: [
        { when: /first/, steps: [{ message: 'one', usage: { input: 300, cached: 100, output: 30 } }] },
        { when: /command/, steps: [{ calls: [program.bash('echo made > made.txt; echo out; exit 3')] }, tellOutput] },
        { when: /file/, steps: [{ calls: [program.write(file, 'hello\n')] }, { message: 'changed' }] },
        { when: /Use the old parser/, steps: [{ message: 'the old one' }] },
        { when: /slowly/, steps: [{ pieces: ['a ', 'b ', 'c ', 'd'], pieceDelayMs: 400 }] },
        { when: /long/, steps: [{ pieces: ['y'.repeat(5_000_000)] }] },
      ],
      otherwise: [{ message: ({ memory }) => (memory.includes('first') ? 'remembered' : 'forgotten') }],
    });
    const { session, complete, events, items } = await scene.open();
    expect(await complete('Do the first thing.')).toBe('one');
    expect(await complete('And then?')).toBe('remembered');
    const used = events.flatMap(({ usage }) => usage ?? []).at(-1);
    // Claude Code also asks for a title, once or twice, with the same prompt.
    const titles = program.preset === 'claude-agent-acp' ? [0, 1, 2] : [0];
    const possible = titles.map((times) => [100 + times * 100, 50 + times * 30]);
    expect(possible).toContainEqual([used?.cachedInputTokens, used?.outputTokens]);
    expect(await complete('Run the command.')).toContain('out');
    expect(readFileSync(path.join(scene.workspace, 'made.txt'), 'utf8')).toBe('made\n');
    expect(await complete('Change the file.')).toBe('changed');
    expect(readFileSync(file, 'utf8')).toBe('hello\n');
    if (session.steer !== undefined) {
      const turn = session.runTurn('Work slowly.');
      const hasBegun = (): boolean => events.some(({ summary }) => summary.startsWith('says: a'));
      await expect.poll(hasBegun, { timeout: 60_000 }).toBe(true);
      expect(await session.steer('Use the old parser.')).toBe(true);
      expect(await turn).toMatchObject({ status: 'completed', message: 'the old one' });
    }
    expect(session.steer === undefined).toBe(program.preset === 'opencode');
    expect((await complete('Be long.')).length).toBe(65_536);
    expect(items().slice(0, 6)).toMatchObject([
      { type: 'agentMessage', text: 'one' },
      { type: 'agentMessage', text: 'remembered' },
      { type: 'commandExecution', exitCode: 3, aggregatedOutput: expect.stringContaining('out') },
      { type: 'agentMessage' },
      { type: 'fileChange', status: 'completed', changes: [{ path: file, kind: { type: 'add' }, diff: 'hello\n' }] },
      { type: 'agentMessage', text: 'changed' },
    ]);
  });

  it('are interrupted, and continue in a new process after kill -9, with what was said before', async () => {
    const block = (file: string): readonly Step[] => [
      { calls: [program.bash(`touch ${file}; exec tail -f /dev/null`)] },
    ];
    const scene = await makeScene({
      scenario: {
        rules: [
          { when: /wait/, steps: block('waits') },
          { when: /hang/, steps: block('hangs') },
        ],
        otherwise: [{ message: ({ memory }) => `remembers ${/zebra/.exec(memory)?.[0] ?? 'nothing'}` }],
      },
    });
    const until = (file: string) =>
      expect.poll(() => existsSync(path.join(scene.workspace, file)), { timeout: 60_000 }).toBe(true);
    const first = await scene.open();
    await first.complete('The word is zebra.');
    const giveUp = new AbortController();
    const interrupted = first.session.runTurn('wait', giveUp.signal);
    await until('waits');
    giveUp.abort();
    expect(await interrupted).toEqual({ status: 'cancelled' });
    // Codex leaves the command to the end of the session.
    if (program.preset !== 'codex-acp') await expect.poll(() => commandsOf(scene.daemonId)).not.toContain('tail');
    expect(await first.complete('And now?')).toBe('remembers zebra');

    const cut = first.session.runTurn('hang');
    await until('hangs');
    process.kill(first.session.pid ?? Number.NaN, 'SIGKILL');
    expect(await cut).toMatchObject({ status: 'failed', error: { code: 'agent_exited' } });
    await first.session.stop();
    const threadId = first.session.threadId ?? '';
    const second = await scene.open({ threadId });
    expect(second.session).toMatchObject({ isResumed: true, threadId });
    expect(await second.complete('What was it?')).toBe('remembers zebra');
    // Neither tokens nor cost of the conversation so far count again.
    const used = second.events.flatMap(({ usage }) => usage ?? []).at(-1);
    expect(used?.totalTokens).toBe(120);
    if (program.preset === 'claude-agent-acp') expect(used?.costMicroUsd).toBe(800);
    await second.session.stop();

    // The command for a person names the same conversation.
    const ended = { workspace: scene.workspace, threadId, home: null, gitDir: null };
    expect(presets[program.preset].resume(ended)).toContain(threadId);
    if (program.preset === 'claude-agent-acp' || program.preset === 'opencode') {
      const text = byHand(presets[program.preset].resume(ended), program);
      const { stdout } = await promisify(execFile)('sh', ['-c', text], {
        env: { PATH: process.env.PATH, ...scene.env },
      });
      expect(stdout).toContain('remembers zebra');
    }

    const lost = program.preset === 'opencode' ? 'ses_0000000000000000' : '00000000-0000-4000-8000-000000000000';
    const third = await scene.open({ threadId: lost });
    expect(third.session.isResumed).toBe(false);
    expect(third.session.threadId).not.toBe(lost);
    expect(third.events[0]?.name).toBe('session_started');
  });
});
