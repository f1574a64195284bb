import { type Clock, sleep } from '../../../clock/clock.ts';
import type { SessionRequest } from '../../agent.ts';
import type { EventSink } from '../../wire/event-sink.ts';
import type { Fields } from '../../wire/fields.ts';
import type { CodexAgentOptions } from '../codex-options.ts';
import { threadRefusalOf } from '../turn/codex-error.ts';
import { type CodexConnection, CodexRefusal } from '../wire/connection.ts';
import type { FrameReporter } from '../wire/report-frames.ts';
import { idIn, threadResumeParams, threadStartParams } from './session-params.ts';
import { isThreadInUse } from './thread-in-use.ts';

export interface ThreadOpening {
  readonly clock: Clock;
  readonly connection: CodexConnection;
  readonly options: CodexAgentOptions;
  readonly request: SessionRequest;
  readonly reporter: FrameReporter;
  readonly events: EventSink;
  /** Whether there are variables that the agent must not see. */
  readonly hidesSecrets: boolean;
  /** Aborts when the session is no longer wanted, or takes too long to open. */
  readonly signal: AbortSignal;
}

/** Delays before each new try to resume a thread that Codex cannot resume for the moment. */
const triedAgainAfterMs = [250, 1_000, 4_000];

/** Opens the thread of a session: the one to continue, or a new one when there is none or Codex lost it. */
export async function openThread(opening: ThreadOpening): Promise<{ thread: Fields; isResumed: boolean }> {
  const resumed = await resumeThread(opening);
  if (resumed !== null) return { thread: resumed, isResumed: true };
  return { thread: await startThread(opening), isResumed: false };
}

/**
 * A thread is given up only when Codex says that it is lost or cannot be read. A refusal that may pass is tried again;
 * after the last try, and for any other reason, the session fails and the thread stays available for the next session.
 */
async function resumeThread(opening: ThreadOpening): Promise<Fields | null> {
  const { connection, options, request, reporter, events, hidesSecrets, signal } = opening;
  const { threadId } = request;
  if (threadId === null) return null;
  // Before the request: Codex reports the earlier usage of the thread again at once.
  reporter.meter.resume(threadId);
  const params = threadResumeParams(options, request, threadId, hidesSecrets);
  for (const waitMs of [...triedAgainAfterMs, null]) {
    try {
      return await connection.request('thread/resume', params, options.readTimeoutMs, signal);
    } catch (error) {
      if (!(error instanceof CodexRefusal)) throw error;
      // A person who closes the thread and hands the issue back at once may be faster than Codex releases the thread.
      const kind = isThreadInUse(error.refusal) ? 'passing' : threadRefusalOf(error.refusal);
      if (kind === 'other' || (kind === 'passing' && waitMs === null)) throw error;
      if (kind === 'lost') {
        events.emit('notification', `starting a new thread, because the old one is lost: ${error.message}`, {
          payload: error.refusal,
        });
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
  // The name helps people who browse the threads; nothing depends on it.
  if (threadId !== null && request.title !== '') {
    const name = { threadId, name: request.title };
    connection.request('thread/name/set', name, options.readTimeoutMs).catch(() => {});
  }
  return thread;
}
