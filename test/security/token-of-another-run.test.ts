import { spawn } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import type { ToolAddress } from '../../src/core/tool-set.ts';
import { createPeerFinder } from '../../src/process/sockets/socket-peer.ts';
import { createAccessTokens } from '../../src/server/access-tokens.ts';
import { openListener } from '../../src/server/listener.ts';
import { createToolHost } from '../../src/server/tool-host.ts';
import { memoryLogger } from '../fake/memory-logger.ts';

const daemonId = 'daemon-of-this-test';

async function open() {
  const parts = { clock: systemClock, chance: systemChance };
  const listener = await openListener({ host: '127.0.0.1', port: 0, logger: memoryLogger(), ...parts });
  onTestFinished(() => listener.close());
  const uid = process.getuid?.() ?? null;
  const findPeer = createPeerFinder({ daemonIds: new Set([daemonId]), uid, clock: systemClock });
  return createToolHost({ listener, tokens: createAccessTokens(), findPeer, ...parts });
}

/** Calls a tool with the token, as a process with these markers, and returns the status. */
function callAs(env: Record<string, string>, { url, token }: ToolAddress, wrapper: readonly string[] = []) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'move', arguments: {} } });
  const program = `fetch(${JSON.stringify(url)}, {
    method: 'POST',
    headers: {
      authorization: 'Bearer ${token}',
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2026-07-28',
    },
    body: ${JSON.stringify(body)},
  }).then(({ status }) => console.log(status));`;
  const [command = '', ...args] = [...wrapper, process.execPath, '-e', program];
  const child = spawn(command, args, { env: { PATH: process.env.PATH, ...env }, detached: true });
  return new Promise<string>((resolve) => {
    let said = '';
    child.stdout.on('data', (text) => {
      said += String(text);
    });
    child.on('close', () => resolve(said.trim()));
  });
}

describe.runIf(process.platform === 'linux')('the token of a run', () => {
  it('is refused to a process of another run, of this Baton or another, also after it cleared its environment', async () => {
    const calls: string[] = [];
    const host = await open();
    const call = async (name: string) => {
      calls.push(name);
      return { success: true, output: 'moved' };
    };
    const tools = { tools: [], call };
    const address = host.admit('run-1', tools);
    host.admit('run-2', tools);
    const clean = ['sh', '-c', 'env -i "$@" & wait', 'sh'];
    const other = { BATON_DAEMON_ID: daemonId, BATON_RUN_ID: 'run-2' };
    expect(await callAs(other, address)).toBe('403');
    expect(await callAs(other, address, clean)).toBe('403');
    expect(await callAs({ BATON_DAEMON_ID: 'another', BATON_RUN_ID: 'run-1' }, address)).toBe('403');
    expect(calls).toEqual([]);
    const own = { BATON_DAEMON_ID: daemonId, BATON_RUN_ID: 'run-1' };
    for (const wrapper of [[], clean]) expect(await callAs(own, address, wrapper)).not.toMatch(/^40[13]$/);
  });
});
