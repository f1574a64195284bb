import type { SessionRequest } from '../agent/agent.ts';
import type { Logger } from '../core/logger.ts';
import type { TurnLimit } from './turn-limit.ts';

export interface AskingParts {
  readonly ask: SessionRequest['ask'];
  /** Aborts when the run is to end, or its session does: a question without anybody who wants the answer is taken back. */
  readonly over: AbortSignal;
  readonly limit: TurnLimit;
  readonly logger: Logger;
}

/** How a run asks, for its agent and its tools alike: never rejects, and never outlasts the session. */
export function askPerson({ ask, over, limit, logger }: AskingParts): SessionRequest['ask'] {
  return async (question, signal) => {
    const until = signal === undefined ? over : AbortSignal.any([signal, over]);
    if (until.aborted) return null;
    const { promise: takenBack, resolve } = Promise.withResolvers<null>();
    const onAbort = (): void => resolve(null);
    until.addEventListener('abort', onAbort, { once: true });
    const goOn = limit.pause();
    try {
      return await Promise.race([ask(question, until), takenBack]);
    } catch (error) {
      logger.error('A question could not be asked.', { error });
      return null;
    } finally {
      until.removeEventListener('abort', onAbort);
      goOn();
    }
  };
}
