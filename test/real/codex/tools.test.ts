// @module-tag full
import { afterEach, expect, it } from 'vitest';
import { sleep } from '../../../src/clock/clock.ts';
import { systemChance } from '../../../src/clock/system-chance.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import type { ToolAddress, ToolAnswer, ToolHost, ToolSet } from '../../../src/core/tool-set.ts';
import { daemonMarker } from '../../../src/process/containment/process-table.ts';
import { createPeerFinder } from '../../../src/process/sockets/socket-peer.ts';
import { createAccessTokens } from '../../../src/server/access-tokens.ts';
import type { FindPeer } from '../../../src/server/api/identify.ts';
import { openListener } from '../../../src/server/listener.ts';
import { createToolHost } from '../../../src/server/tool-host.ts';
import { memoryLogger } from '../../fake/memory-logger.ts';
import type { Step } from '../../fake/openai/scenario.ts';
import { describeWithCodex } from '../codex-binary.ts';
import { commentTool } from '../real-scene.ts';
import { useCodexScenes } from './codex-scene.ts';

const tellOutput: Step = { message: ({ lastOutput }) => lastOutput };

await describeWithCodex('tools of a run in a real Codex', (codex) => {
  const makeScene = useCodexScenes(codex);
  const useComment: Step = { calls: [{ name: 'comment', arguments: { body: 'hello' } }] };

  // @conforms real.7
  it('passes a call of a dynamic tool to the tool set and its answer back', async () => {
    const scene = await makeScene({
      scenario: { otherwise: [useComment, tellOutput] },
      options: { tools: 'dynamic' },
    });
    const { complete, calls, names } = await scene.open();
    expect(await complete('Say hello.')).toContain('noted');
    expect(calls).toEqual([['comment', { body: 'hello' }]]);
    expect(names()).toContain('tool_call_completed');
    expect(scene.model.requests[0]?.conversation.toolNames).toContain('comment');
  });

  it('reports a failed call to the model, and the turn continues', async () => {
    const scene = await makeScene({
      scenario: { otherwise: [useComment, tellOutput] },
      options: { tools: 'dynamic' },
    });
    const tools = { tools: [commentTool], call: async () => ({ success: false, output: 'the tracker is away' }) };
    const { complete, names } = await scene.open({ tools });
    expect(await complete('Say hello.')).toContain('the tracker is away');
    expect(names()).toContain('tool_call_failed');
  });

  it('serves the tools of a thread again when it is resumed in another process', async () => {
    const scene = await makeScene({
      scenario: { rules: [{ when: /hello/, steps: [useComment, tellOutput] }] },
      options: { tools: 'dynamic' },
    });
    const first = await scene.open();
    await first.complete('Begin.');
    await first.session.stop();
    const second = await scene.open({ threadId: first.session.threadId });
    expect(await second.complete('Say hello.')).toContain('noted');
    expect(second.calls).toEqual([['comment', { body: 'hello' }]]);
  });

  it('offers no tools of Baton when they are switched off', async () => {
    const scene = await makeScene();
    const { complete } = await scene.open();
    await complete('Say hello.');
    expect(scene.model.requests[0]?.conversation.toolNames).not.toContain('comment');
  });

  const useMcp: Step = {
    calls: [{ namespace: 'mcp__baton', name: 'comment', arguments: { body: 'hello' } }],
  };
  const listening: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const each of listening.splice(0)) await each[Symbol.asyncDispose]();
  });

  /** The daemon's own listener, with a tool set that records its calls. */
  const openTools = async (
    findPeer: FindPeer = async () => ({ kind: 'user' }),
  ): Promise<{ host: ToolHost; runId: string; address: ToolAddress; calls: unknown[] }> => {
    const [clock, chance] = [systemClock, systemChance];
    const listener = await openListener({ host: '127.0.0.1', port: 0, logger: memoryLogger(), clock, chance });
    listening.push(listener);
    const host = createToolHost({ listener, tokens: createAccessTokens(), clock, chance, findPeer });
    const calls: unknown[] = [];
    const door: ToolSet = {
      tools: [commentTool],
      call: async (name, input): Promise<ToolAnswer> => {
        calls.push([name, input]);
        return { success: true, output: 'noted over HTTP' };
      },
    };
    const runId = chance.id();
    return { host, runId, address: host.admit(runId, door), calls };
  };

  // @conforms real.8
  it('passes a call over MCP to the tool set of the run and its answer back', async () => {
    const daemonIds = new Set<string>();
    const uid = process.getuid?.() ?? null;
    const findPeer = createPeerFinder({ daemonIds, uid, clock: systemClock });
    // Codex waits for a server that answers late, instead of beginning its turn without tools.
    const { address, runId, calls } = await openTools(async (connection) => {
      await sleep(systemClock, 1_000);
      return findPeer(connection);
    });
    const scene = await makeScene({ scenario: { otherwise: [useMcp, tellOutput] }, options: { tools: 'mcp' } });
    daemonIds.add(scene.env[daemonMarker] ?? '');
    const { complete } = await scene.open({ toolAddress: address, runId });
    expect(await complete('Say hello.')).toContain('noted over HTTP');
    expect(calls).toEqual([['comment', { body: 'hello' }]]);
  });

  it.each([
    ['whatever the approval policy', false],
    ['in a read-only session', true],
  ])("allows calls of Baton's own tools without asking, %s", async (_, isReadOnly) => {
    const { address, calls } = await openTools();
    const scene = await makeScene({
      scenario: { otherwise: [useMcp, tellOutput] },
      options: { tools: 'mcp', approvalPolicy: 'untrusted', threadSandbox: 'workspace-write' },
    });
    const { complete, asked } = await scene.open({ toolAddress: address, isReadOnly });
    expect(await complete('Say hello.')).toContain('noted over HTTP');
    expect(asked).toEqual([]);
    expect(calls).toHaveLength(1);
  });

  it.each(['accept', 'decline'] as const)('asks before a tool of somebody else, and %ss it', async (decision) => {
    const { address, calls } = await openTools();
    const server = `[mcp_servers.other]\nurl = "${address.url}"\nbearer_token_env_var = "OTHER_TOKEN"\n`;
    const useOther: Step = {
      calls: [{ namespace: 'mcp__other', name: 'comment', arguments: { body: 'hello' } }],
    };
    const scene = await makeScene({
      home: { more: server },
      scenario: { otherwise: [useOther, tellOutput] },
      options: { approvalPolicy: 'untrusted', threadSandbox: 'workspace-write' },
      person: () => ({ decision, values: {} }),
    });
    const { complete, asked } = await scene.open({ env: { OTHER_TOKEN: address.token } });
    await complete('Say hello.');
    expect(asked).toMatchObject([{ kind: 'tool' }]);
    expect(JSON.stringify(asked)).toContain('comment');
    expect(calls).toHaveLength(decision === 'accept' ? 1 : 0);
  });

  // @conforms real.9
  it('reports an expired token of the run to the model, and continues', async () => {
    const { host, runId, address, calls } = await openTools();
    const scene = await makeScene({
      scenario: { rules: [{ when: /hello/, steps: [useMcp, tellOutput] }] },
      options: { tools: 'mcp' },
    });
    const { complete } = await scene.open({ toolAddress: address });
    await complete('Begin.');
    host.dismiss(runId);
    expect(await complete('Say hello.')).not.toContain('noted');
    expect(calls).toEqual([]);
  });

  it('hides the token of a run from the model and the transcript', async () => {
    const { address } = await openTools();
    const scene = await makeScene({ scenario: { otherwise: [useMcp, tellOutput] }, options: { tools: 'mcp' } });
    const { complete, events } = await scene.open({ toolAddress: address });
    await complete('Say hello.');
    const seen = JSON.stringify([events, scene.model.requests]);
    expect(seen).toContain('noted over HTTP');
    expect(seen).not.toContain(address.token);
  });
});
