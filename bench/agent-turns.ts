import type { Agent, AgentSession, SessionRequest } from '../src/agent/agent.ts';
import { systemChance } from '../src/clock/system-chance.ts';
import type { Measured } from './measure.ts';
import { type Figure, ratioOf } from './report.ts';

/** What a trivial turn of a real agent is asked. */
export const prompt = 'Say ok.';

export async function turnOfOwn(agent: Agent, workspace: string): Promise<void> {
  const session = await agent.startSession(requestFor(workspace));
  try {
    await completeTurn(session);
  } finally {
    await session.stop();
  }
}

export async function completeTurn(session: AgentSession): Promise<void> {
  const { status } = await session.runTurn(prompt);
  if (status !== 'completed') throw new Error(`a turn ${status}`);
}

export function requestFor(workspace: string): SessionRequest {
  return {
    runId: systemChance.id(),
    workspace,
    threadId: null,
    writableRoots: [],
    title: 'BAT-1: Say ok',
    env: {},
    isStillOurs: () => true,
    recovery: null,
    tools: { tools: [], call: async () => ({ success: false, output: '' }) },
    toolAddress: null,
    ask: async () => null,
    onProcess: () => {},
    onEvent: () => {},
  };
}

export function figure(what: string, [through, bare]: readonly (Measured | undefined)[]): Figure {
  const [seen, base] = [through?.medianMs ?? 0, bare?.medianMs ?? 0];
  return {
    what,
    seen: `${seen.toFixed(0)} ms`,
    aim: '1.10 times',
    ratio: ratioOf(seen, base, `the same turn without Baton (${base.toFixed(0)} ms)`),
  };
}
