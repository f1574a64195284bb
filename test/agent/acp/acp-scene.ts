import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { createAcpAgent } from '../../../src/agent/acp/acp-agent.ts';
import type { AcpOptions } from '../../../src/agent/acp/settings.ts';
import type { AgentEvent, AgentSession, SessionRequest } from '../../../src/agent/agent.ts';
import type { AgentParts } from '../../../src/agent/launch-agent.ts';
import { systemChance } from '../../../src/clock/system-chance.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import type { Scenario, Step } from '../../fake/acp/scenario.ts';
import { type FakeAcp, writeFakeAcp } from '../../fake/acp/write-fake-acp.ts';

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

export interface SceneChanges {
  readonly options?: Partial<AcpOptions>;
  readonly request?: Partial<SessionRequest>;
  readonly parts?: Partial<AgentParts>;
}

export function scratchFolder(): string {
  const made = realpathSync(mkdtempSync(path.join(tmpdir(), 'baton-acp-')));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A session on the scripted agent, with real processes. Stopped when the test ends. */
export async function openAcp(scenario: Scenario, changes: SceneChanges = {}): Promise<AcpScene> {
  const fake = writeFakeAcp(scratchFolder(), scenario);
  const events: AgentEvent[] = [];
  const parts: AgentParts = {
    clock: systemClock,
    containment: 'marker_sweep',
    daemonId: systemChance.id(),
    daemonEnv: { ...process.env, HOME: scratchFolder() },
    allowEnv: [],
    accountEnv: {},
    denyEnv: [],
    ...changes.parts,
  };
  const request: SessionRequest = {
    runId: systemChance.id(),
    workspace: scratchFolder(),
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
  const options = { ...usualOptions, command: fake.command, ...changes.options };
  const session = await createAcpAgent(options, parts).startSession(request);
  onTestFinished(() => session.stop());
  const { workspace, runId } = request;
  const items = () => events.flatMap(({ payload }) => completedItem(payload));
  return { session, fake, workspace, runId, events, names: () => events.map(({ name }) => name), items };
}

function completedItem(payload: unknown): readonly Readonly<Record<string, unknown>>[] {
  const { method, params } = (payload ?? {}) as { method?: string; params?: { item?: Record<string, unknown> } };
  return method === 'item/completed' && params?.item !== undefined ? [params.item] : [];
}

/** A scenario in which every turn has these steps. */
export const turn = (...steps: readonly Step[]): Scenario => ({ turns: [{ steps }] });
