import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { createCodexAgent } from '../../../src/agent/codex/codex-agent.ts';
import { agentConformance } from '../../conformance/agent.ts';
import type { Scenario } from '../../fake/app-server/scenario.ts';
import { writeFakeAppServer } from '../../fake/app-server/write-fake-app-server.ts';

const question = { id: 'colour', header: 'Colour', question: 'Which colour?', isOther: false, isSecret: false };
const asked = { questions: [{ ...question, options: [{ label: 'blue', description: 'as the sky' }] }] };
const call = (id: number, tool: string) => ({
  ask: { id, method: 'item/tool/call', params: { callId: 'c', namespace: null, tool, arguments: { body: 'hello' } } },
});

const turns: Scenario['turns'] = [
  { match: 'make a file', steps: [{ say: 'working' }, { run: 'echo made > done.txt' }] },
  { match: 'fail', steps: [{ complete: 'failed', error: { message: 'out of luck', codexErrorInfo: 'other' } }] },
  { match: 'fall silent', steps: [{ say: 'last words' }, { forever: true }] },
  { match: 'leave an orphan', steps: [{ grandchild: true }, { say: 'gone' }] },
  { match: 'die', steps: [{ say: 'ouch' }, { kill: 'SIGKILL' }] },
  { match: 'say a long line', steps: [{ say: `${'x'.repeat(2_000_000)}\u001b[31m` }] },
  { match: 'show the environment', steps: [{ run: 'env > env.txt' }] },
  { match: 'ask', steps: [{ ask: { id: 0, method: 'item/tool/requestUserInput', params: asked } }] },
  {
    match: 'need input',
    steps: [{ send: { method: 'turn/input_required', params: { requiresInput: true } } }, { forever: true }],
  },
  { match: 'use a tool', steps: [call(0, 'comment')] },
  { match: 'use what is not there', steps: [call(0, 'update_issue_status')] },
];

agentConformance({
  name: 'codex',
  remembersThreads: true,
  create: (parts, { turnTimeoutMs, home }) =>
    createCodexAgent(
      {
        command: writeFakeAppServer(mkdtempSync(path.join(home, 'fake-')), { turns, home }).command,
        approvalPolicy: 'never',
        threadSandbox: 'workspace-write',
        turnSandboxPolicy: null,
        approvals: 'ask',
        tools: 'dynamic',
        readTimeoutMs: 20_000,
        turnTimeoutMs,
        version: '0.0.0',
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
    inputRequired: 'need input',
    useTool: 'use a tool',
    useUnknownTool: 'use what is not there',
  },
});
