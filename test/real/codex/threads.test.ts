// @module-tag full
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { isAlive } from '../../../src/process/containment/is-alive.ts';
import { shell } from '../../fake/openai/scenario.ts';
import { hasNamespaces } from '../../security/machine.ts';
import { describeWithCodex } from '../codex-binary.ts';
import { useCodexScenes } from './codex-scene.ts';

await describeWithCodex('threads of a real Codex', (codex) => {
  const makeScene = useCodexScenes(codex);

  // @conforms real.14
  it.each(['not isolated', ...(hasNamespaces ? ['isolated'] : [])])(
    'resumes a thread in another process, and counts only the tokens of its own session: %s',
    async (view) => {
      const scene = await makeScene({ isIsolated: view === 'isolated' });
      const first = await scene.open();
      await first.complete('The word is kite.');
      await first.session.stop();
      const second = await scene.open({ threadId: first.session.threadId });
      expect(second.session).toMatchObject({ isResumed: true, threadId: first.session.threadId });
      await second.complete('Which word?');
      expect(scene.model.requests[1]?.conversation.memory).toMatch(/The word is kite\.[\s\S]*Which word\?/);
      expect(second.events.findLast(({ usage }) => usage !== undefined)?.usage?.totalTokens).toBe(120);
    },
  );

  it('continues after the process was killed in the middle of a turn', async () => {
    const rules = [{ when: /slow/, steps: [{ message: 'half of it', fault: { kind: 'hang' } as const }] }];
    const scene = await makeScene({ scenario: { rules } });
    const first = await scene.open();
    await first.complete('The word is kite.');
    const turn = first.session.runTurn('Now slow.');
    await expect.poll(() => scene.model.requests.length).toBe(2);
    process.kill(first.session.pid ?? 0, 'SIGKILL');
    expect(await turn).toMatchObject({ status: 'failed', error: { code: 'agent_exited' } });
    await first.session.stop();
    const second = await scene.open({ threadId: first.session.threadId });
    expect(second.session.isResumed).toBe(true);
    await second.complete('Which word?');
    expect(scene.model.requests.at(-1)?.conversation.memory).toContain('The word is kite.');
  });

  // @conforms real.15
  it.each([
    ['is gone', '01900000-0000-7000-8000-000000000000'],
    ['has a name that Codex never gave', 'nobody'],
  ])('starts a new thread when the one to resume %s', async (_, threadId) => {
    const scene = await makeScene();
    const { session, complete } = await scene.open({ threadId });
    expect(session.isResumed).toBe(false);
    expect(session.threadId).not.toBe(threadId);
    expect(await complete('Begin again.')).toBe('ok');
  });

  // @conforms real.13
  it('cancels a turn in the middle of a command, and the command does not survive', async () => {
    const command = 'echo $$ > pid.txt; (setsid sleep 321 &); sleep 321';
    const scene = await makeScene({
      scenario: { rules: [{ when: /long/, steps: [{ calls: [shell(command)] }] }] },
    });
    const { session, complete } = await scene.open();
    const giveUp = new AbortController();
    const turn = session.runTurn('Do something long.', giveUp.signal);
    const pidFile = path.join(scene.workspace, 'pid.txt');
    await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8') !== '').toBe(true);
    giveUp.abort();
    expect(await turn).toEqual({ status: 'cancelled' });
    const pid = Number(readFileSync(pidFile, 'utf8'));
    await expect.poll(() => isAlive({ pid, startTime: null })).toBe(false);
    // The session itself continues.
    expect(await complete('Something short.')).toBe('ok');
  });

  it('ends all processes when the session is stopped in the middle of a command', async () => {
    const command = 'echo $$ > pid.txt; (setsid sleep 322 &); sleep 322';
    const scene = await makeScene({ scenario: { otherwise: [{ calls: [shell(command)] }] } });
    const { session } = await scene.open();
    const turn = session.runTurn('Do something long.');
    await expect.poll(() => existsSync(path.join(scene.workspace, 'pid.txt'))).toBe(true);
    await session.stop();
    expect(await turn).toEqual({ status: 'cancelled' });
  });

  // @conforms 4.84
  it('compacts a thread before it continues when the last session filled its context', async () => {
    const rules = [{ when: /CONTEXT CHECKPOINT COMPACTION/, steps: [{ message: 'the word was kite' }] }];
    const scene = await makeScene({ scenario: { rules } });
    const first = await scene.open();
    await first.complete('Count to nine.');
    await first.session.stop();
    const second = await scene.open({ threadId: first.session.threadId, recovery: { compact: true } });
    expect(second.session.isResumed).toBe(true);
    await second.complete('Which word?');
    expect(scene.model.requests).toHaveLength(3);
    const { memory } = scene.model.requests[2]?.conversation ?? { memory: '' };
    expect(memory).toContain('the word was kite');
  });

  it('continues when the thread cannot be compacted', async () => {
    const fault = { kind: 'http', status: 400 } as const;
    const rules = [{ when: /CONTEXT CHECKPOINT COMPACTION/, steps: [{ fault }] }];
    const scene = await makeScene({ scenario: { rules } });
    const first = await scene.open();
    await first.complete('Count to nine.');
    await first.session.stop();
    const second = await scene.open({ threadId: first.session.threadId, recovery: { compact: true } });
    expect(await second.complete('Go on.')).toBe('ok');
  });

  // @conforms 4.83, 4.86
  it('limits a conversation to a number of tokens, and uses another model, as configured', async () => {
    const rules = [
      { when: /CONTEXT CHECKPOINT COMPACTION/, steps: [{ message: 'in short: nine' }] },
      { when: /./, steps: [{ message: 'ok', usage: { input: 30_000, output: 20 } }] },
    ];
    const scene = await makeScene({ scenario: { rules } });
    const { complete } = await scene.open({ recovery: { budgetTokens: 20_000, model: 'larger-model' } });
    await complete('Count to nine.');
    await complete('Which number?');
    expect(scene.model.requests.map(({ conversation }) => conversation.said.slice(0, 14))).toEqual([
      'Count to nine.',
      'You are perfor',
      'Which number?',
    ]);
    expect(scene.model.requests[2]?.conversation.memory).toContain('in short: nine');
    expect(scene.model.requests.map(({ body }) => (body as { model: string }).model)).toEqual(
      Array.from({ length: 3 }, () => 'larger-model'),
    );
  });
});
