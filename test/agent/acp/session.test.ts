import { describe, expect, it } from 'vitest';
import { presets } from '../../../src/agent/acp/presets.ts';
import type { AcpOptions } from '../../../src/agent/acp/settings.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { listMarkedProcesses } from '../../../src/process/containment/marked-processes.ts';
import type { Step } from '../../fake/acp/scenario.ts';
import { scratchFolder } from '../scripted-scene.ts';
import { openAcp, turn } from './acp-scene.ts';

const thread = '00000000-0000-4000-8000-000000000000';
const toolAddress = { url: 'http://127.0.0.1:1/mcp', token: 'token-of-the-run' };
const chunk = (text: string, more = {}): Step => ({
  update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text }, ...more },
});

describe('the opening of a session', () => {
  it('says what Baton can do, and names the workspace, the git directory and the tools with the token', async () => {
    const gitDir = scratchFolder();
    const { fake, workspace } = await openAcp({}, { request: { toolAddress, writableRoots: [gitDir] } });
    expect(fake.asked('initialize')).toMatchObject([
      { protocolVersion: 1, clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true } },
    ]);
    const headers = [{ name: 'Authorization', value: 'Bearer token-of-the-run' }];
    const mcpServers = [{ type: 'http', name: 'baton', url: toolAddress.url, headers }];
    expect(fake.asked('session/new')).toEqual([{ cwd: workspace, mcpServers, additionalDirectories: [gitDir] }]);
  });

  it('passes no tools to an agent that reaches no server over HTTP, and says so', async () => {
    const { fake, events } = await openAcp({ initialize: { agentCapabilities: {} } }, { request: { toolAddress } });
    expect(fake.asked('session/new')).toMatchObject([{ mcpServers: [] }]);
    expect(events.map(({ name }) => name)).toEqual(['session_started', 'notification']);
  });

  it('loads a session where the agent cannot resume one, and reports nothing of its history', async () => {
    const history = [{ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'long ago' } }];
    const { session, fake, names } = await openAcp(
      { initialize: { agentCapabilities: { loadSession: true } }, history },
      { request: { threadId: thread } },
    );
    expect(session).toMatchObject({ isResumed: true, threadId: thread });
    expect(fake.asked('session/load')).toMatchObject([{ sessionId: thread }]);
    expect(names()).toEqual(['session_started']);
  });

  it('starts a new session where the agent can do neither, and says so', async () => {
    const scene = await openAcp({ initialize: { agentCapabilities: {} } }, { request: { threadId: thread } });
    expect(scene.session.isResumed).toBe(false);
    expect(scene.names()).toEqual(['session_started', 'notification']);
  });

  it.each([
    { method: 'session/new', code: 'agent_auth_failed', refusal: { code: -32000, message: 'Authentication required' } },
    { method: 'session/resume', code: 'agent_auth_failed', refusal: { code: -32000, message: 'Log in' } },
    {
      method: 'session/resume',
      code: 'agent_thread_in_use',
      refusal: { code: -32600, message: 'in use', data: { reason: 'thread_active_writer' } },
    },
    { method: 'session/new', code: 'agent_launch_failed', refusal: { code: -32603, message: 'out of luck' } },
    { method: 'initialize', code: 'agent_launch_failed', refusal: { code: -32600, message: 'no' } },
  ])('fails with $code when $method is refused with $refusal.code', async ({ method, code, refusal }) => {
    const opened = openAcp({ refuses: { [method]: refusal } }, { request: { threadId: thread } });
    await expect(method === 'session/new' ? openAcp({ refuses: { [method]: refusal } }) : opened).rejects.toMatchObject(
      { code },
    );
    await opened.catch(() => {});
  });

  it('fails when the agent speaks another version of the protocol', async () => {
    await expect(openAcp({ initialize: { protocolVersion: 9 } })).rejects.toMatchObject({
      code: 'agent_protocol_error',
    });
  });

  it('chooses the mode and the model of the settings, by an option or by the older request', async () => {
    const option = (id: string, ...values: string[]) => ({
      id: `the-${id}`,
      category: id,
      currentValue: values[0],
      options: values.map((value) => ({ value })),
    });
    const byOption = await openAcp(
      { session: { configOptions: [option('mode', 'ask', 'work'), option('model', 'small', 'large')] } },
      { options: { mode: 'work', model: 'large' } },
    );
    expect(byOption.fake.asked('session/set_config_option')).toMatchObject([
      { configId: 'the-mode', value: 'work' },
      { configId: 'the-model', value: 'large' },
    ]);
    const modes = { currentModeId: 'ask', availableModes: [{ id: 'ask' }, { id: 'work' }] };
    const models = { currentModelId: 'small', availableModels: [{ modelId: 'small' }, { modelId: 'large' }] };
    const byRequest = await openAcp({ session: { modes, models } }, { options: { mode: 'work', model: 'large' } });
    expect(byRequest.fake.asked('session/set_mode')).toMatchObject([{ modeId: 'work' }]);
    expect(byRequest.fake.asked('session/set_model')).toMatchObject([{ modelId: 'large' }]);
  });

  it('has the mode of its preset for reading in a read-only session, not that of the settings', async () => {
    const modes = { currentModeId: 'work', availableModes: [{ id: 'ask' }, { id: 'work' }] };
    const preset = { ...presets['claude-agent-acp'], paths: [], mode: 'work', readOnly: { mode: 'ask' } };
    const { fake } = await openAcp(
      { session: { modes } },
      { options: { preset, mode: 'work' }, request: { isReadOnly: true } },
    );
    expect(fake.asked('session/set_mode')).toMatchObject([{ modeId: 'ask' }]);
    const { disallowedTools } = JSON.parse(JSON.stringify(fake.asked('session/new')))[0]._meta.claudeCode.options;
    expect(disallowedTools).toEqual(expect.arrayContaining(['Edit', 'Write', 'NotebookEdit', 'EnterWorktree']));
  });

  it('refuses a mode that the agent does not have, but only reports one that a preset prefers', async () => {
    const session = { modes: { currentModeId: 'ask', availableModes: [{ id: 'ask' }] } };
    await expect(openAcp({ session }, { options: { mode: 'work' } })).rejects.toMatchObject({
      code: 'agent_launch_failed',
      details: { mode: 'work', listed: ['ask'] },
    });
    const preset = { ...presets['claude-agent-acp'], paths: [] };
    expect((await openAcp({ session }, { options: { preset } })).names()).toEqual(['session_started', 'notification']);
  });
});

describe('a turn', () => {
  it('is in the transcript in the words of all backends', async () => {
    const diff = { type: 'diff', path: '/w/a.txt', oldText: 'one\ntwo\nthree', newText: 'one\n2\nthree' };
    const { session, events, items } = await openAcp(
      turn(
        { update: { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'Hmm. ' } } },
        { update: { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'Yes.' } } },
        chunk('Hello '),
        chunk('there'),
        {
          call: { kind: 'execute', title: 'ls', rawInput: { command: 'ls -l' } },
          ends: {
            content: [{ type: 'content', content: { type: 'text', text: 'a.txt' } }],
            rawOutput: { exitCode: 0 },
          },
        },
        { call: { kind: 'edit', title: 'Edit a.txt' }, ends: { content: [diff] } },
        {
          call: { title: 'comment', name: 'mcp__baton__comment', rawInput: { body: 'hi' } },
          ends: { rawOutput: 'noted' },
        },
        { update: { sessionUpdate: 'plan', entries: [{ content: 'Look', status: 'in_progress' }] } },
        chunk('Done.'),
      ),
    );
    expect(await session.runTurn('go')).toEqual({ status: 'completed', message: 'Done.' });
    expect(items()).toMatchObject([
      { type: 'reasoning', summary: ['Hmm. Yes.'] },
      { type: 'agentMessage', text: 'Hello there' },
      { type: 'commandExecution', command: 'ls -l', aggregatedOutput: 'a.txt', exitCode: 0, status: 'completed' },
      { type: 'fileChange', changes: [{ path: '/w/a.txt', kind: { type: 'update' }, diff: '-two\n+2\n' }] },
      { type: 'mcpToolCall', server: 'baton', tool: 'comment', arguments: { body: 'hi' }, result: 'noted' },
      { type: 'agentMessage', text: 'Done.' },
    ]);
    const plans = events.filter(
      ({ payload }) => (payload as { method?: string } | undefined)?.method === 'turn/plan/updated',
    );
    expect(plans[0]?.payload).toMatchObject({ params: { plan: [{ step: 'Look', status: 'inProgress' }] } });
  });

  it.each(['refusal', 'max_tokens', 'max_turn_requests', 'cancelled', 'something_new'])(
    'that stops for %s is not a success',
    async (stopReason) => {
      const { session } = await openAcp(turn({ say: 'well' }, { end: { stopReason } }));
      expect(await session.runTurn('go')).toMatchObject({
        status: 'failed',
        error: { code: 'agent_turn_failed', details: { stop_reason: stopReason } },
      });
    },
  );

  it('without any tokens is not a success, although the agent calls it one', async () => {
    const { session } = await openAcp(turn({ say: 'Error: 500' }, { end: { usage: null } }));
    expect(await session.runTurn('go')).toMatchObject({ status: 'failed', error: { code: 'agent_turn_failed' } });
  });

  it.each([
    { code: 'agent_auth_failed', error: { code: -32000, message: 'Authentication required' } },
    { code: 'agent_auth_failed', error: { code: -32603, message: 'x', data: { errorKind: 'authentication_failed' } } },
    { code: 'agent_quota_exhausted', error: { code: -32603, message: 'x', data: { errorKind: 'rate_limit' } } },
    { code: 'agent_quota_exhausted', error: { code: 429, message: 'slow down' } },
    { code: 'agent_quota_exhausted', error: { code: -32603, message: 'x', data: { errorKind: 'billing_error' } } },
    {
      code: 'agent_context_exhausted',
      error: { code: -32603, message: 'Internal error: prompt is too long: 9 tokens' },
    },
    { code: 'agent_turn_failed', error: { code: -32603, message: 'Internal error', data: { details: 'boom' } } },
  ])('fails with $code for $error', async ({ code, error }) => {
    const { session } = await openAcp(turn({ refuse: error }));
    expect(await session.runTurn('go')).toMatchObject({ status: 'failed', error: { code } });
  });

  it('says when the quota is available again, where the agent does', async () => {
    const resetsAt = Math.ceil(Date.now() / 1000) + 3_600;
    const error = { code: -32603, message: 'usage limit reached', data: { resetsAt } };
    const { session } = await openAcp(turn({ refuse: error }));
    expect(await session.runTurn('go')).toMatchObject({ error: { details: { resets_at: resetsAt * 1000 } } });
  });

  it('takes the time of the reset from the last update, as Claude reports it for a plan', async () => {
    const resetsAt = Math.ceil(Date.now() / 1000) + 3_600;
    const _meta = { '_claude/rateLimit': { status: 'rejected', resetsAt } };
    const { session } = await openAcp(
      turn(
        { update: { sessionUpdate: 'usage_update', used: 1, size: 2, _meta } },
        { refuse: { code: -32603, message: 'x', data: { errorKind: 'rate_limit' } } },
      ),
    );
    expect(await session.runTurn('go')).toMatchObject({ error: { details: { resets_at: resetsAt * 1000 } } });
  });

  it('adds up the tokens of its turns, and reports the cost of this session alone', async () => {
    const cost = (amount: number): Step => ({
      update: { sessionUpdate: 'usage_update', used: 120, size: 1_000, cost: { amount, currency: 'USD' } },
    });
    const usage = { inputTokens: 100, outputTokens: 20, cachedReadTokens: 50, totalTokens: 170, thoughtTokens: 5 };
    const turns = [{ steps: [cost(0.5), { end: { usage } }] }, { steps: [cost(0.75), { end: { usage } }] }];
    const last = async (request: object) => {
      const { session, events } = await openAcp({ turns }, { request });
      await session.runTurn('one');
      await session.runTurn('two');
      return events.findLast((event) => event.usage !== undefined)?.usage;
    };
    const tokens = {
      inputTokens: 300,
      cachedInputTokens: 100,
      outputTokens: 40,
      reasoningTokens: 10,
      totalTokens: 340,
    };
    expect(await last({})).toEqual({ ...tokens, costMicroUsd: 750_000 });
    expect(await last({ threadId: thread })).toEqual({ ...tokens, costMicroUsd: 250_000 });
  });

  it('counts each call of the model as the last one where only that is reported', async () => {
    const call = { call: { toolCallId: 'a', title: 'look', status: 'pending' }, ends: { status: 'completed' } };
    const usage = { inputTokens: 100, outputTokens: 20, totalTokens: 120 };
    const size: Step = { update: { sessionUpdate: 'usage_update', used: 100, size: 1_000 } };
    const turns = [
      { steps: [call, call, { say: 'done' }, size, { end: { usage } }] },
      { steps: [call, chunk('and'), { end: { stopReason: 'cancelled', usage: { totalTokens: 0 } } }] },
    ];
    const totals = async (preset: AcpOptions['preset']) => {
      const { session, events } = await openAcp({ turns }, { options: { preset } });
      const total = () => events.findLast((event) => event.usage !== undefined)?.usage?.totalTokens;
      await session.runTurn('one');
      const first = total();
      await session.runTurn('two');
      return [first, total()];
    };
    expect(await totals({ ...presets.opencode, paths: [] })).toEqual([360, 460]);
    expect(await totals(null)).toEqual([120, 120]);
  });

  it('counts the calls of sub-agents with sessions of their own, and ends those that go on after it', async () => {
    const used: Step = { update: { sessionUpdate: 'usage_update', used: 120, size: 1_000 }, session: 'helper' };
    const usage = { inputTokens: 100, outputTokens: 20, totalTokens: 120 };
    const started: Step = { update: { sessionUpdate: 'subagent_update', sessionId: 'helper', description: 'Look.' } };
    const alone: Step[] = [{ ...chunk('on and on'), session: 'helper' } as Step, used];
    const preset = { ...presets['codex-acp'], mode: null, paths: [] };
    const turns = [{ steps: [started, used, used, { end: { usage } }], alone }];
    const { session, events, fake } = await openAcp({ turns }, { options: { preset } });
    expect(fake.asked('initialize')).toMatchObject([{ clientCapabilities: { subagents: {} } }]);
    await session.runTurn('go');
    await expect.poll(() => fake.asked('session/cancel')).toEqual([{ sessionId: 'helper' }]);
    await expect.poll(() => events.findLast((event) => event.usage !== undefined)?.usage?.totalTokens).toBe(480);
    expect(events.map(({ summary }) => summary)).toContain('starts a sub-agent: Look.');
  });

  it('continues after garbage, unknown updates, updates of other sessions and answers to nothing', async () => {
    const { session, names } = await openAcp(
      turn(
        {
          raw: 'Warning: something\n{"jsonrpc":"2.0","id":\n{"id":77,"result":{}}\n[]\n\n{"jsonrpc":"2.0","method":5}\n',
        },
        { update: { sessionUpdate: 'from_the_future', status: 'x' } },
        {
          update: { sessionUpdate: 'tool_call', toolCallId: 'a', title: 'sub', status: 'completed' },
          session: 'other',
        },
        { update: {} },
        { raw: '{"jsonrpc":"2.0","method":"_own/thing","params":{}}\n{"jsonrpc":"2.0","method":"later/thing"}\n' },
        { say: 'fine' },
      ),
    );
    expect(await session.runTurn('go')).toEqual({ status: 'completed', message: 'fine' });
    expect(names().filter((name) => name === 'malformed' || name === 'other_message')).toHaveLength(5);
  });

  it('takes a message of five megabytes, in pieces and whole', async () => {
    const { session } = await openAcp(
      turn({ say: 'x'.repeat(5 * 1024 * 1024) }, { ...chunk('y'), times: 20_000 } as Step),
    );
    const result = await session.runTurn('go');
    expect(result).toMatchObject({ status: 'completed', message: expect.stringMatching(/^x{65536}$/) });
  });

  it('fails when the program dies in its middle, and so does the next one', async () => {
    const { session } = await openAcp(turn({ say: 'ouch' }, { stderr: 'no luck' }, { exit: 3 }));
    expect(await session.runTurn('go')).toMatchObject({
      status: 'failed',
      error: { code: 'agent_exited', details: { exit_code: 3, stderr: 'no luck' } },
    });
    expect(await session.runTurn('go')).toMatchObject({ status: 'failed', error: { code: 'agent_exited' } });
  });

  it('that the agent begins by itself is interrupted', async () => {
    const turns = [
      { steps: [{ say: 'done' }], alone: [{ waitMs: 200 }, { say: 'by myself' }, { forever: true } as const] },
    ];
    const { session, fake } = await openAcp({ turns });
    await session.runTurn('go');
    await expect.poll(() => fake.asked('session/cancel').length).toBe(1);
    expect(await session.runTurn('go')).toMatchObject({ status: 'completed', message: 'done' });
  });

  it('is not added to one that the agent does not end', async () => {
    const { session, names } = await openAcp({ ...turn({ say: 'well' }, { forever: true }), isStubborn: true });
    const giveUp = new AbortController();
    const first = session.runTurn('one', giveUp.signal);
    await expect.poll(names).toContain('turn_started');
    giveUp.abort();
    expect(await first).toEqual({ status: 'cancelled' });
    expect(await session.runTurn('two')).toMatchObject({ status: 'failed', error: { code: 'agent_protocol_error' } });
  });
});

describe('the recovery of a full context', () => {
  it('compacts the conversation with the command of the agent before the first turn', async () => {
    const scene = await openAcp(
      { commands: ['compact'] },
      { request: { threadId: thread, recovery: { compact: true } } },
    );
    expect(scene.fake.asked('session/prompt')).toMatchObject([{ prompt: [{ type: 'text', text: '/compact' }] }]);
    expect(scene.names()).not.toContain('turn_started');
    expect(await scene.session.runTurn('go')).toMatchObject({ status: 'completed' });
  });

  it('skips what the agent cannot do, and says so', async () => {
    const recovery = { compact: true, budgetTokens: 1_000, model: 'huge' };
    const { session, events } = await openAcp({ commands: ['review'] }, { request: { threadId: thread, recovery } });
    expect(events.map(({ name }) => name)).toEqual(['session_started', ...Array(3).fill('notification')]);
    expect(await session.runTurn('go')).toMatchObject({ status: 'completed' });
  });
});

describe('the end of a session', () => {
  it('leaves no command of a terminal, and no process of the agent', async () => {
    const { session, runId, names } = await openAcp(
      turn(
        { ask: 'terminal/create', params: { command: 'sleep 300 & setsid sleep 300 & sleep 300' } },
        { say: '$answer' },
        { forever: true },
      ),
    );
    const over = session.runTurn('go');
    await expect.poll(names).toContain('notification');
    await session.stop();
    expect(await over).toEqual({ status: 'cancelled' });
    const left = await listMarkedProcesses({ clock: systemClock });
    expect(left.filter((each) => each.runId === runId)).toEqual([]);
  });
});
