import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { AgentEvent } from '../../src/agent/agent.ts';
import { createCommandAgent } from '../../src/agent/command/command-agent.ts';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { listMarkedProcesses } from '../../src/process/containment/marked-processes.ts';

it('stop waits for a program that is just starting, ends it, and no event follows', async () => {
  const workspace = realpathSync(mkdtempSync(path.join(tmpdir(), 'baton-command-')));
  onTestFinished(() => rmSync(workspace, { recursive: true, force: true }));
  const runId = systemChance.id();
  const events: AgentEvent[] = [];
  const processes: unknown[] = [];
  const agent = createCommandAgent(
    { command: 'sleep 30', turnTimeoutMs: 60_000 },
    {
      clock: systemClock,
      containment: 'marker_sweep',
      daemonId: systemChance.id(),
      daemonEnv: process.env,
      allowEnv: [],
      accountEnv: {},
      denyEnv: [],
    },
  );
  const session = await agent.startSession({
    runId,
    workspace,
    threadId: null,
    writableRoots: [],
    title: '',
    env: {},
    recovery: null,
    tools: { tools: [], call: async () => ({ success: true, output: '' }) },
    toolAddress: null,
    ask: async () => null,
    onProcess: (told) => processes.push(told),
    isStillOurs: () => true,
    onEvent: (event) => void events.push(event),
  });
  const turn = session.runTurn('x');
  await session.stop();
  const toldAtStop = [events.length, processes.length];
  expect((await listMarkedProcesses({ clock: systemClock })).filter((each) => each.runId === runId)).toEqual([]);
  expect(await turn).toEqual({ status: 'cancelled' });
  expect([events.length, processes.length]).toEqual(toldAtStop);
  expect(processes.at(-1) ?? null).toBeNull();
});
