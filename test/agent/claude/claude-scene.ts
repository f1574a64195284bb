import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { AgentEvent, AgentSession, SessionRequest } from '../../../src/agent/agent.ts';
import { createClaudeAgent } from '../../../src/agent/claude/claude-agent.ts';
import type { ClaudeOptions } from '../../../src/agent/claude/settings.ts';
import type { AgentParts } from '../../../src/agent/launch-agent.ts';
import { systemChance } from '../../../src/clock/system-chance.ts';
import { systemClock } from '../../../src/clock/system-clock.ts';
import type { Scenario, Step } from '../../fake/claude-code/scenario.ts';
import { type FakeClaude, writeFakeClaude } from '../../fake/claude-code/write-fake-claude.ts';

export const usualOptions: ClaudeOptions = {
  command: 'claude',
  model: null,
  permissionMode: 'acceptEdits',
  allowedTools: [],
  disallowedTools: [],
  settingSources: ['user'],
  sandbox: null,
  tools: 'mcp',
  args: [],
  approvals: 'ask',
  readTimeoutMs: 20_000,
  turnTimeoutMs: 20_000,
  prices: {},
};

export interface ClaudeScene {
  readonly session: AgentSession;
  readonly fake: FakeClaude;
  readonly events: readonly AgentEvent[];
  names(): string[];
}

export interface SceneChanges {
  readonly options?: Partial<ClaudeOptions>;
  readonly request?: Partial<SessionRequest>;
  readonly parts?: Partial<AgentParts>;
}

function folder(): string {
  const made = realpathSync(mkdtempSync(path.join(tmpdir(), 'baton-claude-')));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A session on the scripted Claude Code, with real processes. Stopped when the test ends. */
export async function openClaude(scenario: Scenario, changes: SceneChanges = {}): Promise<ClaudeScene> {
  const fake = writeFakeClaude(folder(), scenario);
  const events: AgentEvent[] = [];
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
  const request: SessionRequest = {
    runId: systemChance.id(),
    workspace: folder(),
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
  const session = await createClaudeAgent(options, parts).startSession(request);
  onTestFinished(() => session.stop());
  return { session, fake, events, names: () => events.map(({ name }) => name) };
}

/** A scenario in which every turn has these steps. */
export const turn = (...steps: readonly Step[]): Scenario => ({ turns: [{ steps }] });
