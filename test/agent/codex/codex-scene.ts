import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { AgentEvent, AgentSession, SessionRequest } from '../../../src/agent/agent.ts';
import { createCodexAgent } from '../../../src/agent/codex/codex-agent.ts';
import type { CodexAgentOptions } from '../../../src/agent/codex/codex-options.ts';
import type { AgentParts } from '../../../src/agent/launch-agent.ts';
import { systemChance } from '../../../src/clock/system-chance.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { listMarkedProcesses } from '../../../src/process/containment/marked-processes.ts';
import type { Scenario } from '../../fake/app-server/scenario.ts';
import { type FakeAppServer, writeFakeAppServer } from '../../fake/app-server/write-fake-app-server.ts';

export interface CodexScene {
  readonly session: AgentSession;
  readonly fake: FakeAppServer;
  readonly events: readonly AgentEvent[];
  readonly workspace: string;
  /** The names of all events so far. */
  names(): string[];
  /** Processes of the run that are still alive. */
  left(): Promise<readonly unknown[]>;
}

export interface SceneChanges {
  readonly options?: Partial<CodexAgentOptions>;
  readonly request?: Partial<SessionRequest>;
  readonly parts?: Partial<AgentParts>;
}

export function folder(): string {
  const made = realpathSync(mkdtempSync(path.join(tmpdir(), 'baton-codex-')));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A session on the scripted app-server, with real processes. Stopped when the test ends. */
export async function openCodex(scenario: Scenario, changes: SceneChanges = {}): Promise<CodexScene> {
  const workspace = folder();
  const fake = writeFakeAppServer(folder(), scenario);
  const events: AgentEvent[] = [];
  const runId = systemChance.id();
  const parts: AgentParts = {
    clock: systemClock,
    containment: 'marker_sweep',
    daemonId: systemChance.id(),
    daemonEnv: process.env,
    allowEnv: [],
    accountEnv: {},
    denyEnv: [],
    ...changes.parts,
  };
  const options: CodexAgentOptions = {
    command: fake.command,
    approvalPolicy: 'on-request',
    threadSandbox: 'workspace-write',
    turnSandboxPolicy: null,
    approvals: 'ask',
    tools: 'dynamic',
    readTimeoutMs: 20_000,
    turnTimeoutMs: 20_000,
    version: '1.2.3',
    ...changes.options,
  };
  const request: SessionRequest = {
    runId,
    workspace,
    threadId: null,
    writableRoots: [],
    title: 'T-1: Mend the door',
    env: {},
    recovery: null,
    tools: { tools: [], call: async () => ({ success: true, output: '' }) },
    toolAddress: null,
    ask: async () => null,
    onProcess: () => {},
    isStillOurs: () => true,
    onEvent: (event) => void events.push(event),
    ...changes.request,
  };
  const session = await createCodexAgent(options, parts).startSession(request);
  onTestFinished(() => session.stop());
  return {
    session,
    fake,
    events,
    workspace,
    names: () => events.map(({ name }) => name),
    left: async () => (await listMarkedProcesses({ clock: systemClock })).filter((each) => each.runId === runId),
  };
}

/** A scenario in which every turn has these steps. */
export const turn = (...steps: NonNullable<Scenario['turns']>[number]['steps']): Scenario => ({ turns: [{ steps }] });
