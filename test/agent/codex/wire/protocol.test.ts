// @module-tag full
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv, type ValidateFunction } from 'ajv';
import { expect, it } from 'vitest';
import { pinnedCodexVersion } from '../../../../src/agent/codex/pinned-version.ts';
import type { Step } from '../../../fake/app-server/scenario.ts';
import type { TracedFrame } from '../../../fake/app-server/write-fake-app-server.ts';
import { describeWithCodex } from '../../../real/codex-binary.ts';
import { scratchFolder } from '../../scripted-scene.ts';
import { openCodex } from '../codex-scene.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

const toolOptions = ['Approve Once', 'Approve this Session', 'Deny'].map((label) => ({ label, description: '' }));
/** One of each request that Codex may send, and the schema of its answer. */
const requests: readonly (readonly [string, string, Record<string, unknown>])[] = [
  ['item/commandExecution/requestApproval', 'CommandExecutionRequestApprovalResponse', { command: 'ls' }],
  ['item/fileChange/requestApproval', 'FileChangeRequestApprovalResponse', {}],
  [
    'item/permissions/requestApproval',
    'PermissionsRequestApprovalResponse',
    { permissions: { network: { enabled: true }, fileSystem: { read: null, write: ['/x'] } } },
  ],
  ['execCommandApproval', 'ExecCommandApprovalResponse', { command: ['ls'] }],
  ['applyPatchApproval', 'ApplyPatchApprovalResponse', { fileChanges: {} }],
  [
    'item/tool/requestUserInput',
    'ToolRequestUserInputResponse',
    { questions: [{ id: 'mcp_tool_call_approval_1', question: 'Run?', options: toolOptions }] },
  ],
  ['item/tool/requestUserInput', 'ToolRequestUserInputResponse', { questions: [{ id: 'q', question: 'What?' }] }],
  ['mcpServer/elicitation/request', 'McpServerElicitationRequestResponse', { _meta: { codex_approval_kind: 'x' } }],
  [
    'mcpServer/elicitation/request',
    'McpServerElicitationRequestResponse',
    { mode: 'form', message: 'Who?', requestedSchema: { properties: { q: { type: 'string' } } } },
  ],
  ['item/tool/call', 'DynamicToolCallResponse', { tool: 'comment', arguments: {} }],
  ['item/tool/call', 'DynamicToolCallResponse', { tool: 'unknown' }],
  ['currentTime/read', 'CurrentTimeReadResponse', {}],
  ['attestation/generate', 'JSONRPCErrorError', {}],
];

await describeWithCodex('the messages that Baton sends', (codex) => {
  it('have the types that the pinned Codex generates', () => {
    expect(codex.version).toBe(pinnedCodexVersion);
    const script = path.join(root, 'scripts', 'codex-protocol.mjs');
    const printed = execFileSync(process.execPath, [script, codex.path, '--print'], { encoding: 'utf8' });
    expect(printed).toBe(readFileSync(path.join(root, 'src', 'agent', 'codex', 'wire', 'protocol.ts'), 'utf8'));
  });

  // @conforms codex.3
  it('match the schemas of the pinned Codex, frame by frame, without further fields', async () => {
    const schemas = schemasOf(codex.path);
    const steps = requests.map(([method, , params], id): Step => ({ ask: { id, method, params } }));
    for (const approvals of ['auto', 'deny', 'ask'] as const) {
      for (const frame of await everyFrame(approvals, steps)) {
        const schema = schemaFor(frame);
        if (schema === null) continue;
        const validate = schemas(schema);
        const value = schema.startsWith('Client') ? frame : (frame.result ?? frame.error);
        expect(validate(value), `${JSON.stringify(frame)}\n${JSON.stringify(validate.errors, null, 1)}`).toBe(true);
      }
    }
  });
});

function schemaFor(frame: TracedFrame): string | null {
  if (frame.started !== undefined) return null;
  if (frame.method === undefined) return requests[Number(frame.id)]?.[1] ?? null;
  return frame.id === undefined ? 'ClientNotification' : 'ClientRequest';
}

/** Everything that a new, a steered, an interrupted and a resumed session sends, with every kind of answer. */
async function everyFrame(approvals: 'auto' | 'deny' | 'ask', steps: readonly Step[]): Promise<readonly TracedFrame[]> {
  const tools = {
    tools: [{ name: 'comment', description: 'Says something.', inputSchema: { type: 'object', properties: {} } }],
    call: async () => ({ success: true, output: 'noted' }),
  };
  const answer = { decision: 'accept', values: { q: 'x' } } as const;
  const request = { tools, ask: async () => answer, writableRoots: ['/repo/.git'] };
  const scenario = { turns: [{ match: 'all', steps }, { steps: [{ say: 'working' }, { forever: true as const }] }] };
  const reject = { reject: { sandbox_approval: true, rules: true, mcp_elicitations: true } };
  const first = await openCodex(scenario, { options: { approvals, approvalPolicy: reject }, request });
  await first.session.runTurn('all');
  const giveUp = new AbortController();
  const open = first.session.runTurn('long', giveUp.signal);
  await expect.poll(() => first.events.at(-1)?.summary).toBe('working');
  expect(await first.session.steer?.('Faster.')).toBe(true);
  giveUp.abort();
  await open;
  const recovery = { budgetTokens: 1000, compact: true, model: 'larger' };
  const toolAddress = { url: 'http://127.0.0.1:9/mcp', token: 'x' };
  const turnSandboxPolicy = { type: 'workspaceWrite', networkAccess: true };
  const second = await openCodex(scenario, {
    options: { approvals, tools: 'mcp', turnSandboxPolicy },
    request: { ...request, threadId: 'thread-old', recovery, toolAddress },
  });
  await second.session.runTurn('all');
  await Promise.all([first.session.stop(), second.session.stop()]);
  const frames = [...first.fake.trace(), ...second.fake.trace()];
  const methods = new Set(frames.flatMap(({ method }) => method ?? []));
  expect([...methods].toSorted()).toEqual([
    ...['initialize', 'initialized', 'thread/backgroundTerminals/clean', 'thread/compact/start', 'thread/name/set'],
    ...['thread/resume', 'thread/start', 'turn/interrupt', 'turn/start', 'turn/steer'],
  ]);
  return frames;
}

/** The schemas that a Codex generates, by name, made strict: a field that they do not name is an error. */
function schemasOf(codex: string): (name: string) => ValidateFunction {
  const out = scratchFolder();
  execFileSync(codex, ['app-server', 'generate-json-schema', '--experimental', '--out', out], { stdio: 'ignore' });
  const files = new Set(readdirSync(out));
  const known = new Map<string, ValidateFunction>();
  return (name) => {
    expect(files).toContain(`${name}.json`);
    const validate =
      known.get(name) ??
      new Ajv({ strict: false, allErrors: false, validateFormats: false }).compile(
        closed(JSON.parse(readFileSync(path.join(out, `${name}.json`), 'utf8'))) as object,
      );
    known.set(name, validate);
    return validate;
  };
}

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const all: Record<string, unknown> = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, closed(value)]),
  );
  const isOpen = all.type === 'object' && all.properties !== undefined && !('additionalProperties' in all);
  const isComposed = 'allOf' in all || 'oneOf' in all || 'anyOf' in all;
  return isOpen && !isComposed ? { ...all, additionalProperties: false } : all;
}
