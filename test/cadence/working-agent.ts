import type { Agent, AgentSession, SessionRequest, TurnResult } from '../../src/agent/agent.ts';
import { type Clock, sleep } from '../../src/clock/clock.ts';
import { BatonError } from '../../src/core/baton-error.ts';

/** The work of an agent on its issue. */
export interface Work {
  /** How long each turn takes. */
  readonly turnMs: number;
  /** Where it moves its issue with its tool at the end of the turn; null if people move it. */
  readonly movesTo: string | null;
  /** Whether it says something every minute; a silent one stalls. */
  readonly isSilent?: boolean;
  /** Whether its turn fails at the end. */
  readonly fails?: boolean;
}

const eventEveryMs = 60_000;

/** An agent without a process: it works for a while by the clock, says so every minute, and may move its issue. */
export function workingAgent(clock: Clock, workOn: (identifier: string) => Work): Agent {
  return {
    backend: 'working',
    startSession: async (request) => {
      const session = sessionOf(clock, request, workOn(request.env.BATON_ISSUE_IDENTIFIER ?? ''));
      tell(clock, request, 'session_started');
      return session;
    },
  };
}

function sessionOf(clock: Clock, request: SessionRequest, work: Work): AgentSession {
  return {
    threadId: null,
    isResumed: false,
    pid: null,
    remembersTurns: true,
    runTurn: async (_prompt, signal): Promise<TurnResult> => {
      try {
        await beBusy(clock, request, work, signal);
      } catch {
        return { status: 'cancelled' };
      }
      if (work.fails === true) return { status: 'failed', error: new BatonError('agent_exited', 'it failed') };
      if (work.movesTo !== null) await request.tools.call('update_issue_status', { status: work.movesTo });
      return { status: 'completed' };
    },
    stop: async () => {},
  };
}

async function beBusy(clock: Clock, request: SessionRequest, work: Work, signal?: AbortSignal): Promise<void> {
  const { turnMs, isSilent = false } = work;
  const stepMs = isSilent ? turnMs : eventEveryMs;
  for (let doneMs = 0; doneMs < turnMs; doneMs += stepMs) {
    await sleep(clock, Math.min(stepMs, turnMs - doneMs), signal);
    if (!isSilent) tell(clock, request, 'notification');
  }
}

function tell(clock: Clock, { onEvent }: SessionRequest, name: 'session_started' | 'notification'): void {
  onEvent({ name, at: clock.now(), pid: null, summary: 'at work' });
}
