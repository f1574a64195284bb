import { onTestFinished } from 'vitest';
import type { AgentEvent, AgentSession } from '../../../src/agent/agent.ts';
import { createCodexAgent } from '../../../src/agent/codex/codex-agent.ts';
import type { CodexAgentOptions } from '../../../src/agent/codex/codex-options.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { listMarkedProcesses } from '../../../src/process/containment/marked-processes.ts';
import type { Scenario } from '../../fake/app-server/scenario.ts';
import { type FakeAppServer, writeFakeAppServer } from '../../fake/app-server/write-fake-app-server.ts';
import { type SceneChanges, scratchFolder, usualParts, usualRequest } from '../scripted-scene.ts';

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

/** A session on the scripted app-server, with real processes. Stopped when the test ends. */
export async function openCodex(
  scenario: Scenario,
  changes: SceneChanges<CodexAgentOptions> = {},
): Promise<CodexScene> {
  const fake = writeFakeAppServer(scratchFolder(), scenario);
  const events: AgentEvent[] = [];
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
  const request = usualRequest({ onEvent: (event) => void events.push(event), ...changes.request });
  const { workspace, runId } = request;
  const session = await createCodexAgent(options, usualParts(changes.parts)).startSession(request);
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
