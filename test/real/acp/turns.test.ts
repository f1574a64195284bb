// @module-tag full
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Step } from '../../fake/openai/scenario.ts';
import { pidsOfDaemon } from '../../process/real-children.ts';
import { describeWithAcp } from '../acp-programs.ts';
import { useAcpScenes } from './acp-scene.ts';

/** The names of the programs that a test started and that are alive. */
function commandsOf(daemonId: string): string[] {
  return pidsOfDaemon(daemonId).map((pid) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim());
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
        { when: /long/, steps: [{ pieces: ['y'.repeat(5_000_000)] }] },
      ],
      otherwise: [{ message: ({ memory }) => (memory.includes('first') ? 'remembered' : 'forgotten') }],
    });
    const { complete, events, items } = await scene.open();
    expect(await complete('Do the first thing.')).toBe('one');
    expect(await complete('And then?')).toBe('remembered');
    const used = events.flatMap(({ usage }) => usage ?? []).at(-1);
    // Claude Code also asks for a title, with the same prompt.
    expect([used?.cachedInputTokens, used?.outputTokens]).toEqual(
      program.preset === 'claude-agent-acp' ? [300, 110] : [100, 50],
    );
    expect(await complete('Run the command.')).toContain('out');
    expect(readFileSync(path.join(scene.workspace, 'made.txt'), 'utf8')).toBe('made\n');
    expect(await complete('Change the file.')).toBe('changed');
    expect(readFileSync(file, 'utf8')).toBe('hello\n');
    expect((await complete('Be long.')).length).toBe(65_536);
    expect(items()).toMatchObject([
      { type: 'agentMessage', text: 'one' },
      { type: 'agentMessage', text: 'remembered' },
      { type: 'commandExecution', exitCode: 3, aggregatedOutput: expect.stringContaining('out') },
      { type: 'agentMessage' },
      { type: 'fileChange', status: 'completed', changes: [{ path: file, kind: { type: 'add' }, diff: 'hello\n' }] },
      { type: 'agentMessage', text: 'changed' },
      { type: 'agentMessage' },
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
    if (program.preset !== 'codex-acp')
      await expect.poll(() => commandsOf(scene.daemonId), { timeout: 10_000 }).not.toContain('tail');
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

    const lost = program.preset === 'opencode' ? 'ses_0000000000000000' : '00000000-0000-4000-8000-000000000000';
    const third = await scene.open({ threadId: lost });
    expect(third.session.isResumed).toBe(false);
    expect(third.session.threadId).not.toBe(lost);
    expect(third.events[0]?.name).toBe('session_started');
  });
});
