import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { SessionRequest } from '../../../src/agent/agent.ts';
import type { AgentQuestion, QuestionAnswer } from '../../../src/core/command/question.ts';
import type { Step } from '../../fake/app-server/scenario.ts';
import { openCodex, turn } from './codex-scene.ts';

const asks = (id: number | string, method: string, params: Record<string, unknown> = {}): Step => ({
  ask: { id, method, params },
});

const options = ['Approve Once', 'Approve this Session', 'Deny', 'Cancel'].map((label) => ({ label, description: '' }));
const toolQuestion = { id: 'mcp_tool_call_approval_call-717', header: 'Tool', question: 'Run it?', options };
const freeform = { id: 'name', header: 'Name', question: 'What is it called?', options: null, isSecret: false };
const elicitedCall = {
  mode: 'form',
  serverName: 'other',
  message: 'Run?',
  _meta: { codex_approval_kind: 'mcp_tool_call' },
};
const form = {
  mode: 'form',
  serverName: 'other',
  message: 'Who?',
  _meta: null,
  requestedSchema: {
    type: 'object',
    properties: { name: { type: 'string' }, age: { type: 'number' }, ok: { type: 'boolean' } },
  },
};
/** A person who gives the same answer to everything, and the questions they got. */
const answering =
  (asked: AgentQuestion[], given: QuestionAnswer | null): SessionRequest['ask'] =>
  async (question) => {
    asked.push(question);
    return given;
  };
const permissions = { network: { enabled: true }, fileSystem: null };

/** The change that an approval below names. */
const begun: Step = {
  send: {
    method: 'item/started',
    params: { item: { type: 'fileChange', id: 'i', changes: [{ path: 'a.txt', diff: '+a' }] } },
  },
};

/** One request of each approval kind, with the answers for yes for the session, yes, and no. */
const approvals = [
  [
    'item/commandExecution/requestApproval',
    { command: 'ls' },
    { decision: 'acceptForSession' },
    { decision: 'accept' },
    { decision: 'decline' },
  ],
  [
    'item/fileChange/requestApproval',
    { itemId: 'i' },
    { decision: 'acceptForSession' },
    { decision: 'accept' },
    { decision: 'decline' },
  ],
  [
    'execCommandApproval',
    { command: ['ls', '-l'] },
    { decision: 'approved_for_session' },
    { decision: 'approved' },
    { decision: { denied: expect.anything() } },
  ],
  [
    'applyPatchApproval',
    { fileChanges: { 'a.txt': {} } },
    { decision: 'approved_for_session' },
    { decision: 'approved' },
    { decision: { denied: expect.anything() } },
  ],
  [
    'item/permissions/requestApproval',
    { permissions },
    { permissions: { network: { enabled: true } }, scope: 'session' },
    { permissions: { network: { enabled: true } }, scope: 'turn' },
    { permissions: {}, scope: 'turn' },
  ],
  [
    'item/tool/requestUserInput',
    { questions: [toolQuestion] },
    answer('Approve this Session'),
    answer('Approve Once'),
    answer('Deny'),
  ],
  [
    'tool/requestUserInput',
    { questions: [toolQuestion] },
    answer('Approve this Session'),
    answer('Approve Once'),
    answer('Deny'),
  ],
  [
    'mcpServer/elicitation/request',
    elicitedCall,
    { action: 'accept', content: {}, _meta: null },
    { action: 'accept', content: {}, _meta: null },
    { action: 'decline', content: null, _meta: null },
  ],
] as const;

function answer(label: string): unknown {
  return { answers: { [toolQuestion.id]: { answers: [label] } } };
}

describe('an approval request of Codex', () => {
  // @conforms A10, A13
  it('is allowed for the session under auto, each in the words of its request (A10, A13)', async () => {
    const { session, fake, names } = await openCodex(
      turn(...approvals.map(([method, params], index) => asks(index, method, params))),
      { options: { approvals: 'auto' } },
    );
    expect(await session.runTurn('go')).toMatchObject({ status: 'completed' });
    for (const [index, [, , forSession]] of approvals.entries())
      expect(fake.answerTo(index)?.result).toEqual(forSession);
    expect(names().filter((name) => name === 'approval_auto_approved')).toHaveLength(approvals.length);
  });

  it.each(['auto', 'ask'] as const)(
    'is declined in a read-only session under %s, and no one is asked',
    async (policy) => {
      const asked: AgentQuestion[] = [];
      const { session, fake } = await openCodex(
        turn(...approvals.map(([method, params], index) => asks(index, method, params))),
        {
          options: { approvals: policy },
          request: { isReadOnly: true, ask: answering(asked, { decision: 'accept', values: {} }) },
        },
      );
      expect(await session.runTurn('go')).toMatchObject({ status: 'completed' });
      for (const [index, [, , , , no]] of approvals.entries()) expect(fake.answerTo(index)?.result).toEqual(no);
      expect(asked).toEqual([]);
    },
  );

  it('is declined under deny, and the turn continues', async () => {
    const { session, fake } = await openCodex(
      turn(...approvals.map(([method, params], index) => asks(`s${index}`, method, params)), { say: 'went on' }),
      { options: { approvals: 'deny' } },
    );
    expect(await session.runTurn('go')).toEqual({ status: 'completed', message: 'went on' });
    for (const [index, [, , , , no]] of approvals.entries()) expect(fake.answerTo(`s${index}`)?.result).toEqual(no);
  });

  it('goes to a person under ask, who may say yes once, yes for the session, no, or nothing', async () => {
    const decisions = ['accept', 'accept_for_session', 'decline', null] as const;
    for (const decision of decisions) {
      const asked: AgentQuestion[] = [];
      const ask: SessionRequest['ask'] = async (question) => {
        asked.push(question);
        return decision === null ? null : { decision, values: {} };
      };
      const { session, fake } = await openCodex(
        turn(begun, ...approvals.map(([method, params], index) => asks(index, method, params))),
        { request: { ask } },
      );
      await session.runTurn('go');
      for (const [index, [, , forSession, once, no]] of approvals.entries()) {
        const expected = decision === 'accept' ? once : decision === 'accept_for_session' ? forSession : no;
        expect(fake.answerTo(index)?.result).toEqual(expected);
      }
      expect(asked.map(({ kind }) => kind)).toEqual([
        ...['command', 'file_change', 'command', 'file_change', 'permission', 'tool', 'tool', 'tool'],
      ]);
      expect(asked.every(({ text, fields }) => /^[^\n]+$/.test(text) && fields.length === 0)).toBe(true);
    }
  });

  it('is shown with the change that it is about', async () => {
    const asked: AgentQuestion[] = [];
    const item = { type: 'fileChange', id: 'i', changes: [{ path: 'src/a.ts', diff: '+one\u001b[31m' }] };
    const { session } = await openCodex(
      turn(
        { send: { method: 'item/started', params: { item } } },
        asks(0, 'item/fileChange/requestApproval', { itemId: 'i' }),
      ),
      { request: { ask: answering(asked, null) } },
    );
    await session.runTurn('go');
    expect(asked[0]).toMatchObject({
      text: expect.stringContaining('src/a.ts'),
      detail: 'File: «src/a.ts»\n│ +one␛[31m',
    });
  });

  it.each([
    ['is not needed for the tools of Baton itself', 'mcp', 'accept'],
    ['is needed for the tools of a foreign server with that name', 'dynamic', 'decline'],
  ] as const)('%s', async (_what, tools, action) => {
    const { session, fake } = await openCodex(
      turn(asks(0, 'mcpServer/elicitation/request', { ...elicitedCall, serverName: 'baton' })),
      {
        options: { approvals: 'deny', tools },
        request: { toolAddress: { url: 'http://127.0.0.1:9/mcp', token: 'of-this-run' } },
      },
    );
    await session.runTurn('go');
    expect(fake.answerTo(0)?.result).toMatchObject({ action });
  });
});

describe('a question of Codex', () => {
  // @conforms A14
  it.each(['auto', 'ask'] as const)(
    'goes to a person under %s: Baton never answers it itself (A14)',
    async (approvals) => {
      const asked: AgentQuestion[] = [];
      const given: QuestionAnswer = { decision: 'accept', values: { name: 'Door', age: '7', ok: 'yes' } };
      const { session, fake } = await openCodex(
        turn(
          asks(0, 'item/tool/requestUserInput', { questions: [freeform] }),
          asks(1, 'mcpServer/elicitation/request', form),
        ),
        { options: { approvals }, request: { ask: answering(asked, given) } },
      );
      await session.runTurn('go');
      expect(asked[0]).toMatchObject({
        kind: 'input',
        text: 'What is it called?',
        fields: [{ name: 'name', options: [], allowsOther: true, isSecret: false }],
      });
      expect(asked[1]).toMatchObject({ kind: 'input', fields: [{ name: 'name' }, { name: 'age' }, { name: 'ok' }] });
      expect(fake.answerTo(0)?.result).toEqual({ answers: { name: { answers: ['Door'] } } });
      expect(fake.answerTo(1)?.result).toEqual({
        action: 'accept',
        content: { name: 'Door', age: 7, ok: true },
        _meta: null,
      });
    },
  );

  it('is answered under deny without asking anyone; a form is declined', async () => {
    const { session, fake } = await openCodex(
      turn(
        asks(0, 'item/tool/requestUserInput', { questions: [freeform] }),
        asks(1, 'mcpServer/elicitation/request', form),
      ),
      { options: { approvals: 'deny' }, request: { ask: () => Promise.reject(new Error('nobody may be asked')) } },
    );
    expect(await session.runTurn('go')).toMatchObject({ status: 'completed' });
    expect(fake.answerTo(0)?.result).toMatchObject({
      answers: { name: { answers: [expect.stringMatching(/\S/)] } },
    });
    expect(fake.answerTo(1)?.result).toMatchObject({ action: 'decline' });
  });
});

describe('a request of Codex', () => {
  // @conforms X7
  it.each([0, 'abc', 7])('with the unknown id %j is refused, and the turn continues (X7)', async (id) => {
    const { session, fake } = await openCodex(turn(asks(id, 'attestation/generate'), { say: 'went on' }));
    expect(await session.runTurn('go')).toEqual({ status: 'completed', message: 'went on' });
    expect(fake.answerTo(id)).toMatchObject({ error: { code: -32_601 } });
  });

  // @conforms X8
  it('is served also before the turn/start reply (X8), and the time is that of the clock', async () => {
    const { session, fake } = await openCodex(
      turn(
        asks(0, 'item/commandExecution/requestApproval', { command: 'ls' }),
        asks(1, 'currentTime/read'),
        { answerStart: true },
        { say: 'went on' },
      ),
      { options: { approvals: 'auto' } },
    );
    expect(await session.runTurn('go')).toEqual({ status: 'completed', message: 'went on' });
    expect(fake.answerTo(0)?.result).toEqual({ decision: 'acceptForSession' });
    const told = fake.answerTo(1)?.result as { currentTimeAt: number } | undefined;
    expect(Math.abs((told?.currentTimeAt ?? 0) - Date.now() / 1000)).toBeLessThan(60);
  });

  it('is withdrawn when Codex settles it itself, and then gets no answer', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const ask: SessionRequest['ask'] = (_, signal) => {
      signals.push(signal);
      return new Promise((resolve) => signal?.addEventListener('abort', () => resolve(null)));
    };
    const { session, fake, events } = await openCodex(
      turn(
        { send: { id: 5, method: 'execCommandApproval', params: { command: ['ls'] } } },
        { waitMs: 100 },
        { send: { method: 'serverRequest/resolved', params: { requestId: 5 } } },
        { say: 'went on' },
        { waitMs: 1_000 },
      ),
      { request: { ask } },
    );
    const running = session.runTurn('go');
    await expect.poll(() => events.at(-1)?.summary).toBe('went on');
    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
    expect(await running).toEqual({ status: 'completed', message: 'went on' });
    expect(fake.answerTo(5)).toBeUndefined();
  });
});

interface ToolResult {
  readonly success: boolean;
  readonly contentItems: readonly { readonly text: string }[];
}

describe('a tool of the run', () => {
  const door = (call: SessionRequest['tools']['call']): SessionRequest['tools'] => ({
    tools: [{ name: 'linear_graphql', description: 'Asks.', inputSchema: { type: 'object', properties: {} } }],
    call,
  });

  const noting =
    (calls: unknown[]): SessionRequest['tools']['call'] =>
    async (...call) => {
      calls.push(call);
      return { success: true, output: 'the text' };
    };

  // @conforms A17
  it('is offered at thread/start, can be called by either name of the field, and its text is returned (A17)', async () => {
    const calls: unknown[] = [];
    const { session, fake } = await openCodex(
      turn(asks(101, 'item/tool/call', { name: 'linear_graphql', arguments: { query: '{ me }', variables: {} } })),
      { request: { tools: door(noting(calls)) } },
    );
    await session.runTurn('go');
    expect(fake.sent('thread/start')[0]?.dynamicTools).toEqual([
      {
        type: 'function',
        name: 'linear_graphql',
        description: 'Asks.',
        inputSchema: { type: 'object', properties: {} },
      },
    ]);
    expect(calls).toEqual([['linear_graphql', { query: '{ me }', variables: {} }, expect.any(AbortSignal)]]);
    expect(fake.answerTo(101)?.result).toEqual({
      success: true,
      contentItems: [{ type: 'inputText', text: 'the text' }],
    });
  });

  // @conforms A16, A35
  it.each(['some_tool', '', undefined])(
    'that does not exist (%j) is refused with a list of the existing ones (A16, A35)',
    async (tool) => {
      const { session, fake, names } = await openCodex(turn(asks(101, 'item/tool/call', { tool })), {
        request: { tools: door(() => Promise.reject(new Error('must not be called'))) },
      });
      expect(await session.runTurn('go')).toMatchObject({ status: 'completed' });
      const result = fake.answerTo(101)?.result as ToolResult | undefined;
      expect(result?.success).toBe(false);
      expect(JSON.parse(result?.contentItems[0]?.text ?? '')).toEqual({
        error: {
          message: `Unsupported dynamic tool: ${JSON.stringify(tool ?? '')}.`,
          supportedTools: ['linear_graphql'],
        },
      });
      expect(names()).toContain('unsupported_tool_call');
    },
  );

  it('does not block the stream, and Codex does not count as silent while it runs', async () => {
    const release = Promise.withResolvers<void>();
    const call: SessionRequest['tools']['call'] = async () => {
      await release.promise;
      return { success: true, output: 'late' };
    };
    const { session, events } = await openCodex(
      turn(
        { send: { id: 1, method: 'item/tool/call', params: { tool: 'linear_graphql' } } },
        { send: { method: 'item/completed', params: { item: { type: 'agentMessage', id: 'm', text: 'meanwhile' } } } },
        { waitMs: 2_500 },
        { say: 'done' },
      ),
      { options: { turnTimeoutMs: 1_000 }, request: { tools: door(call) } },
    );
    const running = session.runTurn('go');
    await expect.poll(() => events.map(({ summary }) => summary)).toContain('meanwhile');
    expect(await running).toMatchObject({ status: 'completed' });
    release.resolve();
  });

  it('is reached over MCP with the token in the environment, not on the wire', async () => {
    const { session, fake, workspace } = await openCodex(turn({ run: 'printenv BATON_TOOLS_TOKEN > token.txt' }), {
      options: { tools: 'mcp' },
      request: { toolAddress: { url: 'http://127.0.0.1:9/mcp', token: 'of-this-run' } },
    });
    await session.runTurn('go');
    const start = fake.sent('thread/start')[0];
    expect(start).not.toHaveProperty('dynamicTools');
    // A tool that waits for a person takes longer than the one minute that Codex allows by default.
    const server = { url: 'http://127.0.0.1:9/mcp', bearer_token_env_var: 'BATON_TOOLS_TOKEN' };
    expect(start?.config).toMatchObject({
      mcp_servers: { baton: { ...server, tool_timeout_sec: expect.any(Number) } },
    });
    expect(JSON.stringify(fake.trace())).not.toContain('of-this-run');
    expect(await readFile(`${workspace}/token.txt`, 'utf8')).toBe('of-this-run\n');
  });
});
