import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { createAcpAgent } from '../../../src/agent/acp/acp-agent.ts';
import { agentConformance } from '../../conformance/agent.ts';
import type { Scenario } from '../../fake/acp/scenario.ts';
import { writeFakeAcp } from '../../fake/acp/write-fake-acp.ts';
import { usualOptions } from './acp-scene.ts';

const requestedSchema = {
  type: 'object',
  properties: { colour: { type: 'string', title: 'Which colour?', enum: ['blue', 'red'] } },
};

const turns: Scenario['turns'] = [
  { match: 'make a file', steps: [{ say: 'working' }, { run: 'echo made > done.txt' }] },
  { match: 'fail', steps: [{ refuse: { code: -32603, message: 'out of luck' } }] },
  { match: 'fall silent', steps: [{ say: 'last words' }, { forever: true }] },
  { match: 'leave an orphan', steps: [{ grandchild: true }, { say: 'gone' }] },
  { match: 'die', steps: [{ say: 'ouch' }, { kill: 'SIGKILL' }] },
  { match: 'say a long line', steps: [{ say: `${'x'.repeat(2_000_000)}\u001b[31m` }] },
  { match: 'show the environment', steps: [{ run: 'env > env.txt' }] },
  {
    match: 'ask',
    steps: [
      { ask: 'elicitation/create', params: { mode: 'form', message: 'Which colour?', requestedSchema } },
      { say: 'thanks' },
    ],
  },
];

agentConformance({
  name: 'acp',
  remembersThreads: true,
  create: (parts, { turnTimeoutMs, home }) =>
    createAcpAgent(
      {
        ...usualOptions,
        command: writeFakeAcp(mkdtempSync(path.join(home, 'fake-')), { turns, home }).command,
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
    // The agent asks by a request, and calls Baton's tools over HTTP.
    inputRequired: null,
    useTool: null,
    useUnknownTool: null,
  },
});
