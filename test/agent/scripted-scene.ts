import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { AgentEvent, SessionRequest } from '../../src/agent/agent.ts';
import type { AgentParts } from '../../src/agent/launch-agent.ts';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';

/** Changes to the usual scene of a test. */
export interface SceneChanges<Options> {
  readonly options?: Partial<Options>;
  readonly request?: Partial<SessionRequest>;
  readonly parts?: Partial<AgentParts>;
}

/** Removed when the test ends. */
export function scratchFolder(): string {
  const made = realpathSync(mkdtempSync(path.join(tmpdir(), 'baton-agent-')));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

export function usualParts(changes: Partial<AgentParts> = {}): AgentParts {
  return {
    clock: systemClock,
    containment: 'marker_sweep',
    daemonId: systemChance.id(),
    daemonEnv: process.env,
    allowEnv: [],
    accountEnv: {},
    denyEnv: [],
    ...changes,
  };
}

/** A session in a workspace of its own, for an issue without tools or people. */
export function usualRequest(changes: Partial<SessionRequest> = {}): SessionRequest {
  return {
    runId: systemChance.id(),
    workspace: changes.workspace ?? scratchFolder(),
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
    onEvent: () => {},
    ...changes,
  };
}

/** The items of the transcript that are complete, oldest first. */
export function completedItems(events: readonly AgentEvent[]): readonly Readonly<Record<string, unknown>>[] {
  return events.flatMap(({ payload }) => {
    const { method, params } = (payload ?? {}) as { method?: string; params?: { item?: Record<string, unknown> } };
    return method === 'item/completed' && params?.item !== undefined ? [params.item] : [];
  });
}
