import type { Agent, AgentSession } from '../agent/agent.ts';
import type { Redactor } from '../core/text/redact.ts';
import type { ToolSet } from '../core/tool-set.ts';

/**
 * Wraps an agent so that no event, question, last message or error of it contains a secret. It wraps every backend
 * here, so that no backend can forget to do it.
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

/** Wraps the tools: what an agent writes or says to people through them contains no secret either. */
export function hideFromTools(toolSet: ToolSet, redactor: Redactor): ToolSet {
  return {
    tools: toolSet.tools,
    call: (name, input, signal) => toolSet.call(name, redactor.redact(input), signal),
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

/** Removes secrets from the error of a rejection. */
async function clean<T>(work: Promise<T>, redactor: Redactor): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw redactor.redact(error);
  }
}
