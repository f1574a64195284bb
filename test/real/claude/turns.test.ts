// @module-tag full
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { claudeResumeCommand } from '../../../src/agent/claude/resume-command.ts';
import type { Step } from '../../fake/openai/scenario.ts';
import { pidsOfDaemon } from '../../process/real-children.ts';
import { hasNamespaces } from '../../security/machine.ts';
import { describeWithClaude } from '../claude-binary.ts';
import { bash, useClaudeScenes } from './claude-scene.ts';

/** The names of the programs that a test started and that are alive. */
function commandsOf(daemonId: string): string[] {
  return pidsOfDaemon(daemonId).map(nameOf);
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    // It has ended since it was listed.
    return '';
  }
}

const views = ['not isolated', ...(hasNamespaces ? ['isolated'] : [])];

const tellOutput: Step = { message: ({ lastOutput }) => lastOutput };

await describeWithClaude('turns of a real Claude Code', (claude) => {
  const makeScene = useClaudeScenes(claude);

  it('run one after the other in one conversation, and count tokens and cost once', async () => {
    const scene = await makeScene({
      scenario: {
        rules: [
          {
            when: /first/,
            steps: [{ reasoning: 'Let me think.', message: 'one', usage: { input: 300, cached: 100, output: 30 } }],
          },
        ],
        otherwise: [{ message: ({ memory }) => (memory.includes('first') ? 'remembered' : 'forgotten') }],
      },
    });
    const { session, complete, events, items } = await scene.open();
    expect(await complete('Do the first thing.')).toBe('one');
    expect(await complete('And then?')).toBe('remembered');
    expect(items()).toMatchObject([
      { type: 'reasoning', summary: ['Let me think.'] },
      { type: 'agentMessage', text: 'one' },
      { type: 'agentMessage', text: 'remembered' },
    ]);
    const usage = events.flatMap((event) => event.usage ?? []);
    expect(usage.at(-1)).toMatchObject({
      inputTokens: 400,
      cachedInputTokens: 100,
      outputTokens: 50,
      model: 'claude-opus-5-5',
    });
    const exact = 300 * 4 + 100 * 0.2 + 50 * 20;
    expect(usage.at(-1)?.costMicroUsd).toBeCloseTo(exact, 3);
    // The estimate before the end of a turn is never more than what the turn costs.
    expect(Math.max(...usage.map(({ costMicroUsd }) => costMicroUsd ?? 0))).toBeLessThanOrEqual(Math.ceil(exact));
    expect(session.threadId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('give the model what looks like a command of Claude Code as words, and keep the conversation', async () => {
    const scene = await makeScene({
      scenario: {
        rules: [{ when: /first/, steps: [{ message: 'one' }] }],
        otherwise: [
          { message: ({ memory }) => (memory.includes('first') && memory.includes('/clear') ? 'heard' : 'forgotten') },
        ],
      },
    });
    const { complete } = await scene.open();
    expect(await complete('Do the first thing.')).toBe('one');
    expect(await complete('/clear')).toBe('heard');
  });

  it('run commands, change files and delegate to sub-agents, all in the transcript', async () => {
    const scene = await makeScene({ options: { allowedTools: ['Bash'] } });
    const file_path = path.join(scene.workspace, 'new.txt');
    const helper = {
      description: 'look',
      prompt: 'SUBTASK',
      subagent_type: 'general-purpose',
      run_in_background: false,
    };
    scene.model.play({
      rules: [
        { when: /command/, steps: [{ calls: [bash('echo made > made.txt; echo out; exit 3')] }, tellOutput] },
        {
          when: /file/,
          steps: [
            { calls: [{ name: 'Write', arguments: { file_path, content: 'hello\n' } }] },
            { calls: [{ name: 'Edit', arguments: { file_path, old_string: 'hello', new_string: 'goodbye' } }] },
            { message: 'changed' },
          ],
        },
        { when: /SUBTASK/, steps: [{ calls: [bash('echo from below')] }, { message: 'the helper is done' }] },
        { when: /delegate/, steps: [{ calls: [{ name: 'Task', arguments: helper }] }, tellOutput] },
      ],
    });
    const { complete, items, events } = await scene.open();
    expect(await complete('Run the command.')).toContain('out');
    expect(readFileSync(path.join(scene.workspace, 'made.txt'), 'utf8')).toBe('made\n');
    expect(await complete('Change the file.')).toBe('changed');
    expect(readFileSync(path.join(scene.workspace, 'new.txt'), 'utf8')).toBe('goodbye\n');
    expect(await complete('Now delegate.')).toContain('the helper is done');
    expect(items()).toMatchObject([
      { type: 'commandExecution', exitCode: 3, status: 'failed', aggregatedOutput: expect.stringContaining('out') },
      { type: 'agentMessage' },
      { type: 'fileChange', status: 'completed', changes: [{ path: expect.stringContaining('new.txt') }] },
      { type: 'fileChange', status: 'completed', changes: [{ diff: '-hello\n+goodbye\n' }] },
      { type: 'agentMessage' },
      { type: 'commandExecution', exitCode: 0, parentId: expect.any(String) },
      { type: 'agentMessage', text: 'the helper is done', parentId: expect.any(String) },
      { type: 'toolCall', tool: 'Task', status: 'completed' },
      { type: 'agentMessage' },
    ]);
    // Nine calls of the model in three turns, two of them by the sub-agent, and 120 tokens each.
    expect(events.flatMap(({ usage }) => usage ?? []).at(-1)?.totalTokens).toBe(9 * 120);
  });

  it('hear what is said in the middle of them, also when it is too late for their last answer', async () => {
    const scene = await makeScene({
      scenario: {
        rules: [
          { when: /Use the old parser/, steps: [{ message: 'the old one' }] },
          { when: /slowly/, steps: [{ pieces: ['a ', 'b ', 'c ', 'd'], pieceDelayMs: 250 }] },
        ],
      },
    });
    const { session, events } = await scene.open();
    const turn = session.runTurn('Work slowly.');
    await expect.poll(() => events.some(({ summary }) => summary.startsWith('says: a'))).toBe(true);
    expect(await session.steer?.('Use the old parser.')).toBe(true);
    expect(await turn).toMatchObject({ status: 'completed', message: 'the old one' });
    expect(events.filter(({ name }) => name === 'turn_completed')).toHaveLength(1);
  });

  it('are interrupted in the middle of a command, which ends with them, and another turn works', async () => {
    const scene = await makeScene({
      scenario: { rules: [{ when: /block/, steps: [{ calls: [bash('touch begun; exec tail -f /dev/null')] }] }] },
      options: { allowedTools: ['Bash'] },
    });
    const { session, complete } = await scene.open();
    const giveUp = new AbortController();
    const turn = session.runTurn('block', giveUp.signal);
    await expect.poll(() => existsSync(path.join(scene.workspace, 'begun'))).toBe(true);
    giveUp.abort();
    expect(await turn).toEqual({ status: 'cancelled' });
    await expect.poll(() => commandsOf(scene.daemonId)).not.toContain('tail');
    expect(await complete('And now?')).toBe('ok');
  });

  it('that Claude Code begins by itself are interrupted, and what they use counts', async () => {
    const wait = { name: 'Bash', arguments: { command: 'tail -f /dev/null | head -c 1', run_in_background: true } };
    const scene = await makeScene({
      scenario: {
        rules: [
          { when: /background/, steps: [{ calls: [wait] }, { message: 'started' }] },
          { when: /task-notification/, steps: [{ pieces: ['a ', 'b '], fault: { kind: 'hang' } }] },
        ],
      },
      options: { allowedTools: ['Bash'] },
    });
    const { complete, events } = await scene.open();
    expect(await complete('Run it in the background.')).toBe('started');
    // The turn may end before the command in the background has begun.
    await expect.poll(() => commandsOf(scene.daemonId)).toContain('tail');
    for (const pid of pidsOfDaemon(scene.daemonId)) if (nameOf(pid) === 'tail') process.kill(pid);
    await expect.poll(() => events.some(({ summary }) => /by itself/.test(summary))).toBe(true);
    expect(await complete('And now?')).toBe('ok');
    expect(events.filter(({ name }) => name === 'turn_completed')).toHaveLength(2);
  });

  it.each(views)(
    'continue in a new process after kill -9 in the middle of one, with what was said before: %s',
    async (view) => {
      const scene = await makeScene({
        isIsolated: view === 'isolated',
        scenario: {
          rules: [{ when: /block/, steps: [{ calls: [bash('touch begun; exec tail -f /dev/null')] }] }],
          otherwise: [{ message: ({ memory }) => `remembers ${/zebra/.exec(memory)?.[0] ?? 'nothing'}` }],
        },
        options: { allowedTools: ['Bash'] },
      });
      const first = await scene.open();
      await first.complete('The word is zebra.');
      const cut = first.session.runTurn('block');
      await expect.poll(() => existsSync(path.join(scene.workspace, 'begun'))).toBe(true);
      process.kill(first.session.pid ?? Number.NaN, 'SIGKILL');
      expect(await cut).toMatchObject({ status: 'failed', error: { code: 'agent_exited' } });
      await first.session.stop();
      const threadId = first.session.threadId ?? '';
      const second = await scene.open({ threadId });
      expect(second.session).toMatchObject({ isResumed: true, threadId });
      expect(await second.complete('What was it?')).toBe('remembers zebra');
      // The cost of the conversation so far is not the cost of this session.
      expect(second.events.flatMap(({ usage }) => usage ?? []).at(-1)).toMatchObject({
        totalTokens: 120,
        costMicroUsd: 800,
      });
      await second.session.stop();
      // The command for a person opens the same conversation; `-p` is what a person does not need.
      const ended = {
        workspace: scene.workspace,
        threadId,
        home: path.join(scene.folder, 'claude-home'),
        gitDir: null,
      };
      const command = claudeResumeCommand(ended, { permissionMode: 'acceptEdits', settingSources: ['user'] });
      const text = `${command.replace('claude --resume', `'${claude.path}' -p 'What was it?' --resume`)}`;
      const env = {
        PATH: process.env.PATH,
        HOME: scene.folder,
        ANTHROPIC_BASE_URL: scene.model.url,
        ANTHROPIC_API_KEY: 'x',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      };
      const { stdout } = await promisify(execFile)('sh', ['-c', `${text} < /dev/null`], { env });
      expect(stdout).toContain('remembers zebra');
    },
  );

  it('start a new conversation when the one to resume is lost', async () => {
    const scene = await makeScene();
    const threadId = '00000000-0000-4000-8000-000000000000';
    const { session, complete, events } = await scene.open({ threadId });
    expect(session.isResumed).toBe(false);
    expect(session.threadId).not.toBe(threadId);
    expect(events[0]?.name).toBe('session_started');
    expect(await complete('Begin.')).toBe('ok');
  });

  it('carry a message of five megabytes, and refuse a prompt of that size as a full context', async () => {
    const scene = await makeScene({ scenario: { otherwise: [{ pieces: ['y'.repeat(5_000_000)] }] } });
    const { complete, events } = await scene.open();
    expect(await complete(`Read this: ${'x'.repeat(1_000_000)}`)).toHaveLength(65_536);
    expect(Math.max(...events.map(({ summary }) => summary.length))).toBeLessThanOrEqual(200);
    expect(JSON.stringify(scene.model.requests.at(-1)?.body).length).toBeGreaterThan(1_000_000);
    const { session } = await scene.open();
    expect(await session.runTurn(`Read this: ${'x'.repeat(5_000_000)}`)).toMatchObject({
      status: 'failed',
      error: { code: 'agent_context_exhausted' },
    });
  });

  it('compact the conversation when the last run filled its context', async () => {
    const scene = await makeScene();
    const first = await scene.open();
    await first.complete('Remember a lot.');
    await first.session.stop();
    scene.model.play({ rules: [{ when: /summary/, steps: [{ message: '<summary>zebra</summary>' }] }] });
    const { complete, events } = await scene.open({ threadId: first.session.threadId, recovery: { compact: true } });
    expect(events.map(({ summary }) => summary)).toContain('compacted the conversation');
    expect(await complete('Go on.')).toBe('ok');
    expect(scene.model.requests.at(-1)?.conversation.memory).toContain('zebra');
  });
});
