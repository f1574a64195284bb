import type { SessionRequest } from '../agent/agent.ts';
import type { AgentQuestion, QuestionAnswer } from '../core/command/question.ts';
import type { Logger } from '../core/logger.ts';

export interface AskingParts {
  readonly ask: SessionRequest['ask'];
  /**
   * Aborts when the run has to end, or its session ends: then no agent wants the answer, and the question is taken
   * back.
   */
  readonly over: AbortSignal;
  /** The run waits for a person, not for the agent, from this call on. Returns the function that ends the pause. */
  readonly pause: () => () => void;
  readonly onAnswer: (question: AgentQuestion, answer: QuestionAnswer) => void;
  readonly logger: Logger;
}

/** How a run asks a person, for its agent and its tools alike: never rejects, and never outlasts the session. */
export function askPerson({ ask, over, pause, onAnswer, logger }: AskingParts): SessionRequest['ask'] {
  return async (question, signal) => {
    const until = signal === undefined ? over : AbortSignal.any([signal, over]);
    if (until.aborted) return null;
    const { promise: takenBack, resolve } = Promise.withResolvers<null>();
    const onAbort = (): void => resolve(null);
    until.addEventListener('abort', onAbort, { once: true });
    const goOn = pause();
    try {
      const answer = await Promise.race([ask(question, until), takenBack]);
      if (answer !== null) onAnswer(question, answer);
      return answer;
    } catch (error) {
      logger.error('question_failed', { error });
      return null;
    } finally {
      until.removeEventListener('abort', onAbort);
      goOn();
    }
  };
}
