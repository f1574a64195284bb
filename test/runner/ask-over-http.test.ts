import { expect, it, onTestFinished } from 'vitest';
import { sleep } from '../../src/clock/clock.ts';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import type { ToolHost } from '../../src/core/tool-set.ts';
import { createAccessTokens } from '../../src/server/access-tokens.ts';
import { openListener } from '../../src/server/listener.ts';
import { createToolHost } from '../../src/server/tool-host.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { stageRun } from './stage-run.ts';

/** Asks a person over MCP, prints nothing meanwhile, then the answer, and is then silent for so long. */
const askingProgram = (silentMs: number): string => `
const { BATON_TOOLS_URL: url, BATON_TOOLS_TOKEN: token } = process.env;
const post = (body, more = {}) => fetch(url, {
  method: 'POST',
  headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json',
    accept: 'application/json, text/event-stream', ...more },
  body: JSON.stringify({ jsonrpc: '2.0', ...body }),
});
const protocolVersion = '2025-06-18';
const opened = await post({ id: 1, method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'agent', version: '1' } } });
await opened.text();
const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': protocolVersion };
const asked = await post({ id: 2, method: 'tools/call',
  params: { name: 'ask_person', arguments: { question: 'Which colour?' } } }, session);
console.log(/the red one/.test(await asked.text()) ? 'answered: red' : 'no answer');
await new Promise((resolve) => setTimeout(resolve, ${silentMs}));
`;

const turnTimeoutMs = 3_000;
const command = `"${process.execPath}" --input-type=module -`;

async function openHost(): Promise<ToolHost> {
  const parts = { logger: memoryLogger(), clock: systemClock, chance: systemChance };
  const listener = await openListener({ host: '127.0.0.1', port: 0, ...parts });
  onTestFinished(() => listener.close());
  const findPeer = async () => ({ kind: 'user' }) as const;
  return createToolHost({ listener, tokens: createAccessTokens(), findPeer, ...parts });
}

async function stageAsking(silentMs: number) {
  return stageRun(askingProgram(silentMs), {
    agent: { backend: 'command', command, turnTimeoutMs },
    toolHost: await openHost(),
    request: {
      ask: async () => {
        await sleep(systemClock, turnTimeoutMs + 2_000);
        return { decision: 'accept', values: { answer: 'the red one' } };
      },
    },
  });
}

// @conforms runs.43
it('an agent that asks a person through its HTTP tool is not silent while it waits, but is afterwards', async () => {
  const [patient, silent] = await Promise.all([stageAsking(0), stageAsking(60_000)]);
  const [answered, given] = await Promise.all([patient.end(), silent.end()]);
  expect(answered).toMatchObject({ end: 'succeeded' });
  expect(given).toMatchObject({ end: 'timed_out', error: { code: 'agent_turn_timeout' }, left: 0 });
  expect([patient.messages, silent.events.at(-2)?.summary]).toEqual([['answered: red'], 'answered: red']);
});
