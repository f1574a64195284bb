import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../../src/agent/agent.ts';
import { RequestHandler, type RequestHandlerParts } from '../../../src/agent/codex/requests/request-handler.ts';
import { FrameReporter } from '../../../src/agent/codex/wire/report-frames.ts';
import { EventSink } from '../../../src/agent/wire/event-sink.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import type { Step } from '../../fake/app-server/scenario.ts';
import { scratchFolder } from '../scripted-scene.ts';
import { openCodex, turn } from './codex-scene.ts';

const note = (method: string, params: Record<string, unknown> = {}): Step => ({ send: { method, params } });

function openHandler(changes: Partial<RequestHandlerParts> = {}) {
  const events: AgentEvent[] = [];
  const answers: { id: number | string; answer: unknown }[] = [];
  const sink = new EventSink(systemClock, 1, (event) => events.push(event));
  sink.open('session_started', 'here');
  const handler = new RequestHandler({
    clock: systemClock,
    events: sink,
    approvals: 'ask',
    hasOwnServer: false,
    request: { ask: () => new Promise(() => {}), tools: { tools: [], call: () => new Promise(() => {}) } },
    answer: (id, answer) => answers.push({ id, answer }),
    tellAgent: () => {},
    changesOf: () => null,
    onOpen: () => {},
    onIdle: () => {},
    ...changes,
  });
  const ask = (id: number | string, method: string, params = {}): void =>
    void handler.handle({ kind: 'request', id, method, params, whole: { id, method, params } });
  return { handler, ask, answers, events };
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

describe('the open requests of one session', () => {
  // @conforms codex.10
  it('are limited: Baton refuses more, and reports that once', async () => {
    const { ask, answers, events } = openHandler();
    for (let id = 0; id < 500; id += 1) ask(id, 'item/commandExecution/requestApproval', { command: 'ls' });
    await soon();
    expect(answers).toHaveLength(400);
    expect(answers.every(({ answer }) => 'error' in (answer as object))).toBe(true);
    expect(events.filter(({ name }) => name === 'approval_required')).toHaveLength(100);
    expect(events.filter(({ name }) => name === 'notification')).toMatchObject([{ payload: { id: 100 } }]);
  });

  it.each([
    ['asked again under the same id', (_: RequestHandler, id: number) => id * 0],
    [
      'taken back by Codex itself',
      (handler: RequestHandler, id: number) => {
        handler.withdraw(id - 1);
        return id;
      },
    ],
    [
      'left by a turn that has ended',
      (handler: RequestHandler, id: number) => {
        handler.withdrawAll();
        return id;
      },
    ],
  ])('include tool calls that are still running when they are %s', async (_, next) => {
    let atWork = 0;
    const call = (): Promise<never> => {
      atWork += 1;
      return new Promise(() => {});
    };
    const tools = { tools: [{ name: 'slow', description: '', inputSchema: {} }], call };
    const { handler, ask } = openHandler({ request: { ask: async () => null, tools } });
    for (let id = 0; id < 500; id += 1) ask(next(handler, id), 'item/tool/call', { tool: 'slow', arguments: {} });
    await soon();
    expect(atWork).toBe(100);
  });

  it('allow another request after an answer', async () => {
    const { ask, answers } = openHandler({
      request: { ask: async () => null, tools: { tools: [], call: async () => ({ success: true, output: '' }) } },
    });
    for (let round = 0; round < 5; round += 1) {
      for (let id = 0; id < 100; id += 1) ask(`${round} ${id}`, 'item/commandExecution/requestApproval');
      await soon();
    }
    expect(answers).toHaveLength(500);
    expect(answers.every(({ answer }) => 'result' in (answer as object))).toBe(true);
  });

  // @conforms codex.11
  it('end the session when Codex keeps asking and never reads the answers', async () => {
    const program = path.join(scratchFolder(), 'deaf.mjs');
    writeFileSync(program, deafProgram);
    const output = 'x'.repeat(1_000_000);
    const { session } = await openCodex(
      {},
      {
        options: { command: `'${process.execPath}' '${program}'` },
        request: {
          onEvent: () => {},
          tools: {
            tools: [{ name: 'large', description: '', inputSchema: {} }],
            call: async () => ({ success: true, output }),
          },
        },
      },
    );
    expect(await session.runTurn('go')).toMatchObject({ status: 'failed', error: { code: 'agent_protocol_error' } });
  });
});

/** Answers until its turn begins, then only sends requests. */
const deafProgram = `
import { createInterface } from 'node:readline';
import { writeSync } from 'node:fs';
const wait = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
const put = (frame) => {
  const bytes = Buffer.from(JSON.stringify(frame) + '\\n');
  for (let at = 0; at < bytes.length; ) {
    try { at += writeSync(1, bytes, at); } catch (error) { if (error.code !== 'EAGAIN') process.exit(0); wait(2); }
  }
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'thread/start') put({ id, result: { thread: { id: 't' } } });
  else if (method === 'turn/start') {
    put({ id, result: { turn: { id: 'u' } } });
    for (let each = 0; each < 100; each += 1) put({ id: 'r' + each, method: 'item/tool/call', params: { tool: 'large' } });
    wait(60_000);
  } else if (id !== undefined) put({ id, result: {} });
});`;

describe('work that Codex begins and never ends', () => {
  it('is remembered up to a limit in number and size, the newest first', () => {
    const sink = new EventSink(systemClock, 1, () => {});
    sink.open('session_started', 'here');
    const reporter = new FrameReporter(systemClock, sink);
    const begin = (id: string, diff: string): void => {
      const item = { type: 'fileChange', id, changes: [{ path: 'a', diff }] };
      reporter.report('item/started', { item }, {});
    };
    for (let each = 0; each < 2_000; each += 1) begin(`small ${each}`, 'y');
    expect(reporter.changesOf('small 1999')).not.toBeNull();
    expect(reporter.changesOf('small 0')).toBeNull();
    for (let each = 0; each < 20; each += 1) begin(`large ${each}`, 'y'.repeat(4_000_000));
    expect(reporter.changesOf('large 19')).not.toBeNull();
    expect(reporter.changesOf('large 0')).toBeNull();
    reporter.endTurn();
    expect(reporter.changesOf('large 19')).toBeNull();
  });
});

describe('tools of a server with the name of ours', () => {
  const params = {
    serverName: 'baton',
    mode: 'form',
    message: 'Allow the tool erase?',
    requestedSchema: { type: 'object', properties: {} },
    _meta: { codex_approval_kind: 'mcp_tool_call', persist: ['session'] },
  };
  const elicited: Step = { ask: { id: 9, method: 'mcpServer/elicitation/request', params } };
  const toolAddress = { url: 'http://127.0.0.1:9/mcp', token: 'a-token' };

  it.each([
    ['none', toolAddress],
    ['dynamic', toolAddress],
    ['mcp', null],
  ] as const)('are subject to the approval policy under tools %s with the address %j', async (tools, address) => {
    const { session, fake } = await openCodex(turn(elicited), {
      options: { approvals: 'deny', tools },
      request: { toolAddress: address },
    });
    await session.runTurn('go');
    expect(fake.answerTo(9)?.result).toMatchObject({ action: 'decline' });
  });

  it('are allowed when the server is ours, and that is reported', async () => {
    const { session, fake, names } = await openCodex(turn(elicited), {
      options: { approvals: 'deny', tools: 'mcp' },
      request: { toolAddress },
    });
    await session.runTurn('go');
    expect(fake.answerTo(9)?.result).toMatchObject({ action: 'accept', _meta: { persist: 'session' } });
    expect(names()).toContain('approval_auto_approved');
  });

  it.each([
    ['none', {}],
    ['mcp', { turnId: 'another' }],
    ['mcp', { threadId: 'of-a-helper' }],
  ] as const)('do not hide a silence under tools %s with %j', async (tools, about) => {
    const item = { type: 'mcpToolCall', id: 'call', server: 'baton', tool: 'get_issue', status: 'inProgress' };
    const { session } = await openCodex(turn(note('item/started', { ...about, item }), { forever: true }), {
      options: { turnTimeoutMs: 900, tools },
      request: { toolAddress },
    });
    expect(await session.runTurn('go')).toMatchObject({ status: 'failed', error: { code: 'agent_turn_timeout' } });
  });
});

describe('names of properties that every object has', () => {
  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'are ordinary text: %s as an error, a method, a question and a field',
    async (word) => {
      const questions = [{ id: word, header: 'h', question: 'q', options: null }];
      const properties = JSON.parse(`{"${word}":{"type":"string"}}`) as object;
      const form = { serverName: 's', mode: 'form', message: 'm', requestedSchema: { type: 'object', properties } };
      const { session, fake } = await openCodex(
        turn(
          note(word),
          { ask: { id: 1, method: 'item/tool/requestUserInput', params: { questions } } },
          { ask: { id: 2, method: 'mcpServer/elicitation/request', params: form } },
          { complete: 'failed', error: { message: 'x', codexErrorInfo: word } },
        ),
        { request: { ask: async () => ({ decision: 'accept', values: {} }) } },
      );
      expect(await session.runTurn('go')).toMatchObject({ status: 'failed', error: { code: 'agent_turn_failed' } });
      const given = fake.answerTo(1)?.result as { answers: Record<string, { answers: unknown[] }> };
      expect(Object.entries(given.answers)).toEqual([[word, { answers: [expect.stringMatching(/\S/)] }]]);
      expect(JSON.stringify(fake.answerTo(2)?.result)).toBe('{"action":"accept","content":{},"_meta":null}');
    },
  );
});
