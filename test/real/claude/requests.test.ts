// @module-tag full
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { systemChance } from '../../../src/clock/system-chance.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { knownPrices } from '../../../src/core/account/known-prices.ts';
import { createAccessTokens } from '../../../src/server/access-tokens.ts';
import { openListener } from '../../../src/server/listener.ts';
import { createToolHost } from '../../../src/server/tool-host.ts';
import { memoryLogger } from '../../fake/memory-logger.ts';
import type { Step } from '../../fake/openai/scenario.ts';
import { describeWithClaude } from '../claude-binary.ts';
import { commentTool } from '../real-scene.ts';
import { bash, useClaudeScenes } from './claude-scene.ts';

const tellOutput: Step = { message: ({ lastOutput }) => lastOutput };

await describeWithClaude('requests of a real Claude Code', (claude) => {
  const makeScene = useClaudeScenes(claude);

  it('for permission are decided by a person, and questions are answered by one', async () => {
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
      scenario: {
        rules: [
          { when: /yes/, steps: [{ calls: [bash('sh -c "echo allowed > yes.txt"')] }, tellOutput] },
          { when: /no/, steps: [{ calls: [bash('sh -c "echo denied > no.txt"')] }, tellOutput] },
          { when: /ask/, steps: [{ calls: [{ name: 'AskUserQuestion', arguments: { questions } }] }, tellOutput] },
        ],
      },
      person: ({ kind, detail }) => {
        if (kind === 'input') return { decision: 'accept', values: { 'Which colour?': 'Blue' } };
        return { decision: detail.includes('yes.txt') ? 'accept' : 'decline', values: {} };
      },
    });
    const { complete, asked, events } = await scene.open();
    await complete('Say yes.');
    await complete('Say no.');
    expect(readdirSync(scene.workspace)).toEqual(['yes.txt']);
    expect(await complete('Please ask.')).toContain('Blue');
    expect(asked).toMatchObject([{ kind: 'command' }, { kind: 'command' }, { kind: 'input' }]);
    expect(events.some(({ summary }) => summary === 'was denied: Bash')).toBe(true);
  });

  it('for tools of Baton go over MCP with the token of the run, without a question', async () => {
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
    const comment = { name: 'mcp__baton__comment', arguments: { body: 'hello' } };
    const scene = await makeScene({ scenario: { otherwise: [{ calls: [comment] }, tellOutput] } });
    const { complete, asked, events, items, session } = await scene.open({ toolAddress, runId });
    expect(await complete('Say hello.')).toContain('noted over HTTP');
    expect(calls).toEqual([['comment', { body: 'hello' }]]);
    expect(asked).toEqual([]);
    expect(items()).toMatchObject([
      { type: 'mcpToolCall', server: 'baton', tool: 'comment' },
      { type: 'agentMessage' },
    ]);
    const seen = JSON.stringify([events, scene.model.requests]);
    expect(seen).toContain('noted over HTTP');
    expect(seen).not.toContain(toolAddress.token);
    await session.stop();
  });

  it('are not decided by the repository: its settings, hooks, servers, agents and skills do not count', async () => {
    const scene = await makeScene({
      scenario: { otherwise: [{ calls: [bash('sh -c "echo x > ran.txt"')] }, { message: 'done' }] },
    });
    const mark = (name: string): string => path.join(scene.folder, `ran-${name}`);
    const hook = (name: string) => [{ matcher: '', hooks: [{ type: 'command', command: `touch '${mark(name)}'` }] }];
    const settings = JSON.stringify({
      permissions: { allow: ['Bash', 'Write'], defaultMode: 'bypassPermissions' },
      hooks: {
        SessionStart: hook('start'),
        UserPromptSubmit: hook('prompt'),
        PreToolUse: hook('tool'),
        Stop: hook('stop'),
      },
      apiKeyHelper: `touch '${mark('helper')}'; echo key`,
      enableAllProjectMcpServers: true,
    });
    const write = (file: string, text: string): void => {
      const target = path.join(scene.workspace, file);
      mkdirSync(path.dirname(target), { recursive: true });
      writeFileSync(target, text);
    };
    write('.claude/settings.json', settings);
    write('.claude/settings.local.json', settings);
    write('.mcp.json', JSON.stringify({ mcpServers: { theirs: { command: 'touch', args: [mark('server')] } } }));
    write('.claude/agents/theirs.md', '---\nname: theirs\ndescription: THEIR-AGENT\n---\nx');
    write('.claude/skills/theirs/SKILL.md', '---\nname: theirs\ndescription: THEIR-SKILL\nallowed-tools: Bash\n---\nx');
    write('CLAUDE.md', 'THEIR-GUIDE');
    const { complete, asked } = await scene.open();
    await complete('Go.');
    expect(asked).toMatchObject([{ kind: 'command' }]);
    expect(existsSync(path.join(scene.workspace, 'ran.txt'))).toBe(false);
    expect(readdirSync(scene.folder).filter((name) => name.startsWith('ran-'))).toEqual([]);
    const sent = JSON.stringify(scene.model.requests.map(({ body }) => body));
    expect(['THEIR-AGENT', 'THEIR-SKILL', 'mcp__theirs'].filter((text) => sent.includes(text))).toEqual([]);
    // Text for the model is not a permission.
    expect(sent).toContain('THEIR-GUIDE');
  });

  it('for a sandbox that this machine cannot make fail at the start', async () => {
    const scene = await makeScene();
    // Without the programs that it needs.
    const starting = scene.open({}, { command: `PATH=/nowhere '${claude.path}'`, sandbox: { enabled: true } });
    await expect(starting).rejects.toMatchObject({ code: 'agent_launch_failed' });
  });

  it('cost what the known prices say', async () => {
    const usage = { input: 2_000, cached: 1_000, output: 1_000 };
    const scene = await makeScene({ scenario: { otherwise: [{ message: 'ok', usage }] } });
    for (const model of ['claude-sonnet-5-5', 'claude-fable-5-2']) {
      const { complete, events, session } = await scene.open({}, { model });
      await complete('Count.');
      await session.stop();
      const price = knownPrices[model] ?? expect.fail(`no price for ${model}`);
      const exact = (price.input + (price.cachedInput ?? 0) + price.output) * 1_000;
      const reports = events.flatMap((event) => event.usage ?? []);
      expect(reports.at(-1)?.costMicroUsd).toBeCloseTo(exact, 3);
    }
  }, 60_000);
});
