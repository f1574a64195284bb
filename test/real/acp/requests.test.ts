// @module-tag full
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { systemChance } from '../../../src/clock/system-chance.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { createAccessTokens } from '../../../src/server/access-tokens.ts';
import { openListener } from '../../../src/server/listener.ts';
import { createToolHost } from '../../../src/server/tool-host.ts';
import { memoryLogger } from '../../fake/memory-logger.ts';
import type { Step } from '../../fake/openai/scenario.ts';
import { describeWithAcp } from '../acp-programs.ts';
import { commentTool } from '../codex/codex-scene.ts';
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
});

await describeWithAcp(
  'requests of a real agent that asks',
  (program) => {
    const makeScene = useAcpScenes(program);

    it('for sub-agents and plans are in the transcript, and the tokens of sub-agents count', async () => {
      const type = { subagent_type: 'general-purpose', run_in_background: false };
      const helper = { description: 'look', prompt: 'SUBTASK', ...type };
      const todos = [{ content: 'Look', status: 'in_progress', activeForm: 'Looking' }];
      const scene = await makeScene({
        scenario: {
          rules: [
            {
              when: /SUBTASK/,
              steps: [{ calls: [program.bash('echo from below')] }, { message: 'the helper is done' }],
            },
            {
              when: /delegate/,
              steps: [{ reasoning: 'Let me think.', calls: [{ name: 'Task', arguments: helper }] }, { message: 'ok' }],
            },
            { when: /plan/, steps: [{ calls: [{ name: 'TodoWrite', arguments: { todos } }] }, { message: 'planned' }] },
          ],
        },
      });
      const { complete, items, events } = await scene.open();
      expect(await complete('Now delegate.')).toBe('ok');
      expect(items()).toMatchObject([
        { type: 'reasoning', summary: ['Let me think.'] },
        { type: 'commandExecution', command: 'echo from below', exitCode: 0, parentId: expect.any(String) },
        { type: 'toolCall', tool: 'Task', result: expect.stringContaining('the helper is done') },
        { type: 'agentMessage', text: 'ok' },
      ]);
      expect(events.flatMap(({ usage }) => usage ?? []).at(-1)?.totalTokens).toBeGreaterThanOrEqual(4 * 120);
      await complete('Make a plan.');
      expect(events.map(({ payload }) => payload)).toContainEqual({
        method: 'turn/plan/updated',
        params: { plan: [{ step: expect.stringMatching(/^Look/), status: 'inProgress' }] },
      });
    });

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

    it('for information are answered by a person', async () => {
      const questions = [
        {
          question: 'Which colour?',
          header: 'Colour',
          multiSelect: false,
          options: [
            { label: 'Red', description: 'warm' },
            { label: 'Blue', description: 'cold' },
          ],
        },
      ];
      const scene = await makeScene({
        scenario: { otherwise: [{ calls: [{ name: 'AskUserQuestion', arguments: { questions } }] }, tellOutput] },
        person: ({ fields }) => ({
          decision: 'accept',
          values: Object.fromEntries(fields.slice(0, 1).map(({ name, options }) => [name, options[1] ?? 'Blue'])),
        }),
      });
      const { complete, asked } = await scene.open();
      expect(await complete('Please ask.')).toContain('Blue');
      expect(asked).toMatchObject([{ kind: 'input' }]);
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
