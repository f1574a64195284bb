// @module-tag full
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { systemChance } from '../../../src/clock/system-chance.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { createAccessTokens } from '../../../src/server/access-tokens.ts';
import { openListener } from '../../../src/server/listener.ts';
import { createToolHost } from '../../../src/server/tool-host.ts';
import { memoryLogger } from '../../fake/memory-logger.ts';
import type { Step } from '../../fake/openai/scenario.ts';
import { describeWithAcp } from '../acp-programs.ts';
import { commentTool } from '../real-scene.ts';
import { useAcpScenes } from './acp-scene.ts';

const tellOutput: Step = { message: ({ lastOutput }) => lastOutput };

await describeWithAcp('requests of a real agent', (program) => {
  const makeScene = useAcpScenes(program);

  it('for permission are decided by a person', async () => {
    const scene = await makeScene({
      scenario: {
        rules: [
          {
            when: /yes/,
            steps: [{ calls: [program.asking('sh -c "echo allowed > yes.txt"')] }, { message: 'did it' }],
          },
          { when: /no/, steps: [{ calls: [program.asking('sh -c "echo denied > no.txt"')] }, { message: 'did not' }] },
        ],
      },
      options: { approvals: 'ask' },
      person: ({ detail }) => ({ decision: detail.includes('yes.txt') ? 'accept' : 'decline', values: {} }),
    });
    const { session, complete, asked } = await scene.open();
    expect(await complete('Say yes.')).toBe('did it');
    // Codex ends its turn after a no.
    const isOver = program.preset === 'codex-acp';
    expect(await session.runTurn('Say no.')).toMatchObject({ status: isOver ? 'failed' : 'completed' });
    expect(readdirSync(scene.workspace)).toEqual(['yes.txt']);
    expect(asked).toMatchObject([{ kind: 'command' }, { kind: 'command' }]);
    for (const { detail } of asked) expect(detail).toMatch(/echo \w+ > \w+\.txt/);
  });

  it('for tools of Baton go over MCP with the token of the run', async () => {
    const [clock, chance] = [systemClock, systemChance];
    await using listener = await openListener({ host: '127.0.0.1', port: 0, logger: memoryLogger(), clock, chance });
    const findPeer = async () => ({ kind: 'user' }) as const;
    const host = createToolHost({ listener, tokens: createAccessTokens(), clock, chance, findPeer });
    const calls: unknown[] = [];
    const call = async (name: string, input: unknown) => {
      calls.push([name, input]);
      return { success: true, output: 'noted over HTTP' };
    };
    const runId = chance.id();
    const toolAddress = host.admit(runId, { tools: [commentTool], call });
    const scene = await makeScene({
      scenario: { otherwise: [{ calls: [program.own('comment', { body: 'hello' })] }, tellOutput] },
    });
    const { complete, events, items, session } = await scene.open({ toolAddress, runId });
    expect(await complete('Say hello.')).toContain('noted over HTTP');
    expect(calls).toEqual([['comment', { body: 'hello' }]]);
    expect(items()).toMatchObject([
      { type: 'mcpToolCall', server: 'baton', tool: 'comment', arguments: { body: 'hello' } },
      { type: 'agentMessage' },
    ]);
    const seen = JSON.stringify([events, scene.model.requests]);
    expect(seen).not.toContain(toolAddress.token);
    await session.stop();
  });

  it('to change something in a read-only session are declined', async () => {
    // What a user allows OpenCode does not count.
    const scene = await makeScene({ env: { OPENCODE_PERMISSION: '{"edit":"allow","bash":"allow"}' } });
    const kept = path.join(scene.workspace, 'kept.txt');
    writeFileSync(kept, 'original');
    const attempts = [
      ['Write it.', program.write(path.join(scene.workspace, 'made.txt'), 'made\n')],
      ['Plan it.', program.write(path.join(scene.workspace, '.opencode/plans/made.md'), 'made\n')],
      ['Run it.', program.bash('echo made > made.txt')],
      ['Ask for it.', program.asking('sh -c "echo changed > kept.txt"')],
    ] as const;
    const rules = attempts.map(([prompt, call]) => ({
      when: new RegExp(`^${prompt}`),
      steps: [{ calls: [call] }, { message: 'tried' }],
    }));
    scene.model.play({ rules });
    const { session } = await scene.open({ isReadOnly: true });
    for (const [prompt] of attempts) {
      // Codex ends its turn after a no.
      const status = expect.stringMatching(/^(completed|failed)$/);
      expect(await session.runTurn(prompt)).toMatchObject({ status });
      expect(scene.model.requests.map(({ conversation }) => conversation.said)).toContain(prompt);
    }
    await session.stop();
    expect(readdirSync(scene.workspace)).toEqual(['kept.txt']);
    expect(readFileSync(kept, 'utf8')).toBe('original');
  });

  it('for sub-agents, plans and information are in the transcript, and the tokens of sub-agents count', async () => {
    const scene = await makeScene({
      options: { approvals: 'ask' },
      person: ({ kind, fields }) => {
        if (kind !== 'input') return { decision: 'accept', values: {} };
        const [name = '', options = []] = fields.map((field) => [field.name, field.options] as const)[0] ?? [];
        return { decision: 'accept', values: { [name]: options[1] ?? 'Blue' } };
      },
    });
    const file = path.join(scene.workspace, 'from-below.txt');
    const todos = [{ content: 'Look', status: 'in_progress', activeForm: 'Looking', priority: 'high' }];
    const colours = { red: 'warm', blue: 'cold' };
    const options = Object.entries(colours).map(([label, description]) => ({ label, description }));
    const question = program.question?.({ question: 'Which colour?', header: 'Colour', options });
    const isCodex = program.preset === 'codex-acp';
    // Codex works on while its sub-agent does.
    const wait = isCodex ? [{ calls: [program.bash(`until [ -e '${file}' ]; do sleep 0.1; done`)] }] : [];
    scene.model.play({
      rules: [
        { when: /^SUBTASK/, steps: [{ calls: [program.write(file, 'hello\n')] }, { message: 'the helper is done' }] },
        { when: /^Now delegate/, steps: [{ calls: [program.delegate('SUBTASK')] }, ...wait, { message: 'delegated' }] },
        { when: /plan/, steps: [{ calls: [{ name: 'TodoWrite', arguments: { todos } }] }, { message: 'planned' }] },
        { when: /ask/, steps: [{ calls: question === undefined ? [] : [question] }, tellOutput] },
      ],
    });
    const { complete, items, events, asked } = await scene.open();
    const tokens = () => events.flatMap(({ usage }) => usage ?? []).at(-1)?.totalTokens;
    expect(await complete('Now delegate.')).toBe('delegated');
    expect(existsSync(file)).toBe(true);
    const below = { type: 'fileChange', status: 'completed', parentId: expect.any(String) };
    // OpenCode does not report what its sub-agents do and use.
    if (program.preset === 'opencode') expect(tokens()).toBe(2 * 120);
    else expect(items()).toContainEqual(expect.objectContaining(below));
    if (isCodex) expect(events.map(({ summary }) => summary)).toContain('starts a sub-agent: SUBTASK');
    else expect(items()).toContainEqual(expect.objectContaining({ type: 'toolCall', status: 'completed' }));
    if (isCodex) {
      // Three of its own and two of the sub-agent, and one more of its own if the sub-agent ends before it.
      const asked = () => scene.model.requests.filter(({ method }) => method === 'POST').length;
      await expect.poll(() => [5, 6].includes(asked()) && tokens() === asked() * 120).toBe(true);
    }
    if (program.preset === 'claude-agent-acp') {
      expect(tokens()).toBeGreaterThanOrEqual(4 * 120);
      await complete('Make a plan.');
      expect(events.map(({ payload }) => payload)).toContainEqual({
        method: 'turn/plan/updated',
        params: { plan: [{ step: expect.stringMatching(/^Look/), status: 'inProgress' }] },
      });
    }
    if (question === undefined) return;
    expect(await complete('Please ask.')).toContain('blue');
    expect(asked.filter(({ kind }) => kind === 'input')).toHaveLength(1);
  });
});

await describeWithAcp(
  'requests of a real agent for Claude Code',
  (program) => {
    const makeScene = useAcpScenes(program);

    it('for more than a plan has say when its quota is back', async () => {
      const inAnHour = Math.floor(Date.now() / 1000) + 3_600;
      const headers = {
        'anthropic-ratelimit-unified-status': 'rejected',
        'anthropic-ratelimit-unified-reset': String(inAnHour),
        'anthropic-ratelimit-unified-representative-claim': 'five_hour',
        'anthropic-ratelimit-unified-5h-utilization': '1',
        'anthropic-ratelimit-unified-5h-reset': String(inAnHour),
      };
      const scene = await makeScene({ env: { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'not-a-token' } });
      const { session, complete } = await scene.open();
      await complete('Begin.');
      scene.model.play({ otherwise: [{ headers, fault: { kind: 'http', status: 429 } }] });
      expect(await session.runTurn('Try.')).toMatchObject({
        status: 'failed',
        error: { code: 'agent_quota_exhausted', details: { resets_at: inAnHour * 1_000 } },
      });
    });

    it('are not decided by the repository: its settings, hooks and servers do not count', async () => {
      const scene = await makeScene({
        scenario: { otherwise: [{ calls: [program.bash('sh -c "echo x > ran.txt"')] }, { message: 'done' }] },
        options: { approvals: 'ask' },
      });
      const mark = (name: string): string => path.join(scene.folder, `ran-${name}`);
      const hook = (name: string) => [{ matcher: '', hooks: [{ type: 'command', command: `touch '${mark(name)}'` }] }];
      const settings = JSON.stringify({
        permissions: { allow: ['Bash', 'Write'], defaultMode: 'bypassPermissions' },
        hooks: { SessionStart: hook('start'), UserPromptSubmit: hook('prompt'), PreToolUse: hook('tool') },
        enableAllProjectMcpServers: true,
      });
      mkdirSync(path.join(scene.workspace, '.claude'));
      writeFileSync(path.join(scene.workspace, '.claude/settings.json'), settings);
      writeFileSync(path.join(scene.workspace, '.claude/settings.local.json'), settings);
      const servers = { mcpServers: { theirs: { command: 'touch', args: [mark('server')] } } };
      writeFileSync(path.join(scene.workspace, '.mcp.json'), JSON.stringify(servers));
      writeFileSync(path.join(scene.workspace, 'CLAUDE.md'), 'THEIR-GUIDE');
      const { complete, asked } = await scene.open();
      await complete('Go.');
      expect(asked).toMatchObject([{ kind: 'command' }]);
      expect(existsSync(path.join(scene.workspace, 'ran.txt'))).toBe(false);
      expect(readdirSync(scene.folder).filter((name) => name.startsWith('ran-'))).toEqual([]);
      // Text for the model is not a permission.
      expect(JSON.stringify(scene.model.requests.map(({ body }) => body))).toContain('THEIR-GUIDE');
    });
  },
  ['claude-agent-acp'],
);

await describeWithAcp(
  'sub-agents of a real agent',
  (program) => {
    const makeScene = useAcpScenes(program);

    it('end after the turn that started them, and count', async () => {
      const scene = await makeScene({
        scenario: {
          rules: [
            { when: /^HELPER/, steps: [{ delayMs: 100, calls: [program.bash('touch helped')] }] },
            {
              when: /^MAIN/,
              steps: [
                { calls: [program.delegate('HELPER, go on for ever')] },
                { calls: [program.bash('until [ -e helped ]; do sleep 0.1; done')] },
                { message: 'main is done' },
              ],
            },
          ],
        },
      });
      const { complete, events } = await scene.open();
      expect(await complete('MAIN')).toBe('main is done');
      const callsInASecond = async (): Promise<number> => {
        const before = scene.model.requests.length;
        await sleep(1_000);
        return scene.model.requests.length - before;
      };
      await expect.poll(callsInASecond, { timeout: 60_000 }).toBe(0);
      // More than the three calls of the turn itself.
      expect(events.flatMap(({ usage }) => usage ?? []).at(-1)?.totalTokens).toBeGreaterThan(3 * 120);
      expect(await complete('And now?')).toBe('ok');
    });
  },
  ['codex-acp'],
);
