import type { SessionRequest } from '../agent.ts';
import type { CodexAgentOptions } from './codex-agent.ts';
import { isBrokenConfig } from './codex-error.ts';
import { type CodexConnection, CodexRefusal } from './connection.ts';
import type { EventTeller } from './event-teller.ts';
import type { Fields } from './fields.ts';
import type { FrameReporter } from './report-frames.ts';
import { idIn, threadResumeParams, threadStartParams } from './session-params.ts';

export interface ThreadOpening {
  readonly connection: CodexConnection;
  readonly options: CodexAgentOptions;
  readonly request: SessionRequest;
  readonly reporter: FrameReporter;
  readonly teller: EventTeller;
  /** There are variables that the agent must not see. */
  readonly hidesSecrets: boolean;
}

/** The thread of a session: the one that is to go on, or a new one when there is none or Codex cannot go on with it. */
export async function openThread(opening: ThreadOpening): Promise<{ thread: Fields; isResumed: boolean }> {
  const resumed = await resumeThread(opening);
  if (resumed !== null) return { thread: resumed, isResumed: true };
  return { thread: await startThread(opening), isResumed: false };
}

async function resumeThread(opening: ThreadOpening): Promise<Fields | null> {
  const { connection, options, request, reporter, teller, hidesSecrets } = opening;
  const { threadId, signal } = request;
  if (threadId === null) return null;
  // Before it is asked for: what the thread had used is told again at once.
  reporter.meter.resume(threadId);
  try {
    const params = threadResumeParams(options, request, threadId, hidesSecrets);
    return await connection.request('thread/resume', params, options.readTimeoutMs, signal);
  } catch (error) {
    // Lost, or broken: a new one begins. If something else was wrong, a new one fails of it as well and tells it.
    if (!(error instanceof CodexRefusal) || isBrokenConfig(error.refusal)) throw error;
    reporter.meter.resume(null);
    teller.tell('notification', `a new thread begins: ${error.message}`, { payload: error.refusal });
    return null;
  }
}

async function startThread({ connection, options, request, hidesSecrets }: ThreadOpening): Promise<Fields> {
  const params = threadStartParams(options, request, hidesSecrets);
  const thread = await connection.request('thread/start', params, options.readTimeoutMs, request.signal);
  const threadId = idIn(thread, 'thread');
  // For people who look through the threads; nothing depends on it.
  if (threadId !== null && request.title !== '') {
    const name = { threadId, name: request.title };
    connection.request('thread/name/set', name, options.readTimeoutMs).catch(() => {});
  }
  return thread;
}
