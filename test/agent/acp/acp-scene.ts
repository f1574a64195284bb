import { onTestFinished } from 'vitest';
import { createAcpAgent } from '../../../src/agent/acp/acp-agent.ts';
import type { AcpOptions } from '../../../src/agent/acp/settings.ts';
import type { AgentEvent, AgentSession } from '../../../src/agent/agent.ts';
import type { Scenario, Step } from '../../fake/acp/scenario.ts';
import { type FakeAcp, writeFakeAcp } from '../../fake/acp/write-fake-acp.ts';
import { completedItems, type SceneChanges, scratchFolder, usualParts, usualRequest } from '../scripted-scene.ts';

export const usualOptions: AcpOptions = {
  name: 'The fake agent',
  preset: null,
  command: 'acp',
  mode: null,
  model: null,
  tools: 'mcp',
  version: '0.0.0',
  approvals: 'ask',
  readTimeoutMs: 20_000,
  turnTimeoutMs: 20_000,
  prices: {},
};

export interface AcpScene {
  readonly session: AgentSession;
  readonly fake: FakeAcp;
  readonly workspace: string;
  readonly runId: string;
  readonly events: readonly AgentEvent[];
  names(): string[];
  /** The items of the transcript that are complete. */
  items(): readonly Readonly<Record<string, unknown>>[];
}

/** A session on the scripted agent, with real processes. Stopped when the test ends. */
export async function openAcp(scenario: Scenario, changes: SceneChanges<AcpOptions> = {}): Promise<AcpScene> {
  const fake = writeFakeAcp(scratchFolder(), scenario);
  const events: AgentEvent[] = [];
  const parts = usualParts({ daemonEnv: { ...process.env, HOME: scratchFolder() }, ...changes.parts });
  const request = usualRequest({ onEvent: (event) => void events.push(event), ...changes.request });
  const options = { ...usualOptions, command: fake.command, ...changes.options };
  const session = await createAcpAgent(options, parts).startSession(request);
  onTestFinished(() => session.stop());
  const { workspace, runId } = request;
  const items = () => completedItems(events);
  return { session, fake, workspace, runId, events, names: () => events.map(({ name }) => name), items };
}

/** A scenario in which every turn has these steps. */
export const turn = (...steps: readonly Step[]): Scenario => ({ turns: [{ steps }] });
