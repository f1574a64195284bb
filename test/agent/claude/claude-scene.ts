import { onTestFinished } from 'vitest';
import type { AgentEvent, AgentSession } from '../../../src/agent/agent.ts';
import { createClaudeAgent } from '../../../src/agent/claude/claude-agent.ts';
import type { ClaudeOptions } from '../../../src/agent/claude/settings.ts';
import type { Scenario, Step } from '../../fake/claude-code/scenario.ts';
import { type FakeClaude, writeFakeClaude } from '../../fake/claude-code/write-fake-claude.ts';
import { type SceneChanges, scratchFolder, usualParts, usualRequest } from '../scripted-scene.ts';

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

/** A session on the scripted Claude Code, with real processes. Stopped when the test ends. */
export async function openClaude(scenario: Scenario, changes: SceneChanges<ClaudeOptions> = {}): Promise<ClaudeScene> {
  const fake = writeFakeClaude(scratchFolder(), scenario);
  const events: AgentEvent[] = [];
  const request = usualRequest({ onEvent: (event) => void events.push(event), ...changes.request });
  const options = { ...usualOptions, command: fake.command, ...changes.options };
  const session = await createClaudeAgent(options, usualParts(changes.parts)).startSession(request);
  onTestFinished(() => session.stop());
  return { session, fake, events, names: () => events.map(({ name }) => name) };
}

/** A scenario in which every turn has these steps. */
export const turn = (...steps: readonly Step[]): Scenario => ({ turns: [{ steps }] });
