import type { Agent, AgentSession } from '../agent/agent.ts';
import type { Redactor } from '../core/text/redact.ts';
import type { ToolDoor } from '../core/tool-door.ts';

/**
 * The same agent, and nothing that it tells has a secret in it: no event, no question, no last words, no error. It is put
 * around every backend here, where none can forget it.
 */
export function hideSecrets(agent: Agent, redactor: Redactor): Agent {
  return {
    ...agent,
    startSession: async (request) => {
      const started = agent.startSession({
        ...request,
        onEvent: (event) => request.onEvent(redactor.redact(event)),
        ask: (question, signal) => request.ask(redactor.redact(question), signal),
      });
      return hideInSession(await clean(started, redactor), redactor);
    },
  };
}

/** The same tools; what an agent has them write down, or say to people, has no secret in it either. */
export function hideFromTools(door: ToolDoor, redactor: Redactor): ToolDoor {
  return {
    tools: door.tools,
    call: (name, input, signal) => door.call(name, redactor.redact(input), signal),
  };
}

function hideInSession(session: AgentSession, redactor: Redactor): AgentSession {
  return {
    get threadId() {
      return session.threadId;
    },
    get isResumed() {
      return session.isResumed;
    },
    get pid() {
      return session.pid;
    },
    get remembersTurns() {
      return session.remembersTurns;
    },
    runTurn: async (prompt, signal) => redactor.redact(await clean(session.runTurn(prompt, signal), redactor)),
    ...(session.steer === undefined
      ? {}
      : { steer: async (text) => clean(session.steer?.(text) ?? Promise.resolve(false), redactor) }),
    ...(session.pauseSilence === undefined ? {} : { pauseSilence: () => session.pauseSilence?.() ?? (() => {}) }),
    stop: () => clean(session.stop(), redactor),
  };
}

/** What it rejects with is without secrets. */
async function clean<T>(work: Promise<T>, redactor: Redactor): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw redactor.redact(error);
  }
}
