import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { createClaudeAgent } from '../../../src/agent/claude/claude-agent.ts';
import { agentConformance } from '../../conformance/agent.ts';
import type { Scenario } from '../../fake/claude-code/scenario.ts';
import { writeFakeClaude } from '../../fake/claude-code/write-fake-claude.ts';
import { usualOptions } from './claude-scene.ts';

const questions = [
  { question: 'Which colour?', header: 'Colour', options: [{ label: 'blue', description: 'as the sky' }] },
];

const turns: Scenario['turns'] = [
  { match: 'make a file', steps: [{ say: 'working' }, { run: 'echo made > done.txt' }] },
  { match: 'fail', steps: [{ end: { is_error: true, terminal_reason: 'api_error', result: 'out of luck' } }] },
  { match: 'fall silent', steps: [{ say: 'last words' }, { forever: true }] },
  { match: 'leave an orphan', steps: [{ grandchild: true }, { say: 'gone' }] },
  { match: 'die', steps: [{ say: 'ouch' }, { kill: 'SIGKILL' }] },
  { match: 'say a long line', steps: [{ say: `${'x'.repeat(2_000_000)}\u001b[31m` }] },
  { match: 'show the environment', steps: [{ run: 'env > env.txt' }] },
  {
    match: 'ask',
    steps: [
      { ask: { subtype: 'can_use_tool', tool_name: 'AskUserQuestion', input: { questions } } },
      { say: 'thanks' },
    ],
  },
];

agentConformance({
  name: 'claude',
  remembersThreads: true,
  create: (parts, { turnTimeoutMs, home }) =>
    createClaudeAgent(
      {
        ...usualOptions,
        command: writeFakeClaude(mkdtempSync(path.join(home, 'fake-')), { turns, home }).command,
        turnTimeoutMs,
      },
      parts,
    ),
  prompts: {
    makeFile: 'make a file',
    fail: 'fail',
    fallSilent: 'fall silent',
    leaveOrphan: 'leave an orphan',
    die: 'die',
    longLine: 'say a long line',
    showEnvironment: 'show the environment',
    ask: 'ask',
    // Claude Code asks by a request, and calls Baton's tools over HTTP.
    inputRequired: null,
    useTool: null,
    useUnknownTool: null,
  },
});
