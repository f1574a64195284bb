import { type Clock, sleep } from '../../../clock/clock.ts';
import type { SessionRequest } from '../../agent.ts';
import type { CodexAgentOptions } from '../codex-options.ts';
import { threadRefusalOf } from '../turn/codex-error.ts';
import type { EventTeller } from '../turn/event-teller.ts';
import { type CodexConnection, CodexRefusal } from '../wire/connection.ts';
import type { Fields } from '../wire/fields.ts';
import type { FrameReporter } from '../wire/report-frames.ts';
import { idIn, threadResumeParams, threadStartParams } from './session-params.ts';
import { isThreadInUse } from './thread-in-use.ts';

export interface ThreadOpening {
  readonly clock: Clock;
  readonly connection: CodexConnection;
  readonly options: CodexAgentOptions;
  readonly request: SessionRequest;
  readonly reporter: FrameReporter;
  readonly teller: EventTeller;
  /** There are variables that the agent must not see. */
  readonly hidesSecrets: boolean;
  /** Aborts when the session is not wanted any more, or takes too long to begin. */
  readonly signal: AbortSignal;
}

/** After each of these a thread that Codex cannot go on with for the moment is asked for once more. */
const triedAgainAfterMs = [250, 1_000, 4_000];

/** The thread of a session: the one that is to go on, or a new one when there is none or Codex cannot go on with it. */
export async function openThread(opening: ThreadOpening): Promise<{ thread: Fields; isResumed: boolean }> {
  const resumed = await resumeThread(opening);
  if (resumed !== null) return { thread: resumed, isResumed: true };
  return { thread: await startThread(opening), isResumed: false };
}

/**
 * A thread is given up only when Codex says that it is lost or cannot be read. What may pass is tried again; after that,
 * and for any other reason, the session fails and the thread is there for the next one.
 */
async function resumeThread(opening: ThreadOpening): Promise<Fields | null> {
  const { connection, options, request, reporter, teller, hidesSecrets, signal } = opening;
  const { threadId } = request;
  if (threadId === null) return null;
  // Before it is asked for: what the thread had used is told again at once.
  reporter.meter.resume(threadId);
  const params = threadResumeParams(options, request, threadId, hidesSecrets);
  for (const waitMs of [...triedAgainAfterMs, null]) {
    try {
      return await connection.request('thread/resume', params, options.readTimeoutMs, signal);
    } catch (error) {
      if (!(error instanceof CodexRefusal)) throw error;
      // Whoever closes it and gives it back at once is a moment faster than Codex.
      const kind = isThreadInUse(error.refusal) ? 'passing' : threadRefusalOf(error.refusal);
      if (kind === 'other' || (kind === 'passing' && waitMs === null)) throw error;
      if (kind === 'lost') {
        teller.tell('notification', `a new thread begins: ${error.message}`, { payload: error.refusal });
        break;
      }
      await sleep(opening.clock, waitMs ?? 0, signal);
    }
  }
  reporter.meter.resume(null);
  return null;
}

async function startThread({ connection, options, request, hidesSecrets, signal }: ThreadOpening): Promise<Fields> {
  const params = threadStartParams(options, request, hidesSecrets);
  const thread = await connection.request('thread/start', params, options.readTimeoutMs, signal);
  const threadId = idIn(thread, 'thread');
  // For people who look through the threads; nothing depends on it.
  if (threadId !== null && request.title !== '') {
    const name = { threadId, name: request.title };
    connection.request('thread/name/set', name, options.readTimeoutMs).catch(() => {});
  }
  return thread;
}
