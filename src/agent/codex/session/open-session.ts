import { BatonError } from '../../../core/baton-error.ts';
import type { SessionRequest } from '../../agent.ts';
import type { AgentParts } from '../../launch-agent.ts';
import { textOf } from '../../wire/fields.ts';
import type { CodexAgentOptions } from '../codex-options.ts';
import { openThread, type ThreadOpening } from './open-thread.ts';
import { idIn, initializeParams } from './session-params.ts';

export interface OpenedSession {
  readonly threadId: string;
  readonly isResumed: boolean;
}

/**
 * The shortest limit for opening a session, however short the limit of an answer: a machine that just started is slow.
 */
const leastLimitMs = 60_000;
/**
 * The limit for opening a session, in limits of one answer. Opening waits for three answers, and each may come late.
 */
const limitInAnswers = 12;

/**
 * Opens the session up to its thread and emits `session_started` or `startup_failed`. Each answer has its own time
 * limit; the limit for all of them catches a Codex that keeps sending messages but never the answer.
 */
export async function openSession(
  ours: Pick<ThreadOpening, 'connection' | 'reporter' | 'events'>,
  options: CodexAgentOptions,
  request: SessionRequest,
  parts: Pick<AgentParts, 'clock' | 'denyEnv'>,
): Promise<OpenedSession> {
  const limitMs = Math.max(leastLimitMs, options.readTimeoutMs * limitInAnswers);
  const limit = new AbortController();
  const timer = parts.clock.schedule(limitMs, () =>
    limit.abort(new BatonError('agent_launch_failed', `Codex was not ready after ${limitMs} ms.`)),
  );
  const signal = AbortSignal.any([limit.signal, ...(request.signal === undefined ? [] : [request.signal])]);
  const hidesSecrets = parts.denyEnv.length > 0;
  try {
    return await greet({ ...ours, clock: parts.clock, options, request, hidesSecrets, signal });
  } catch (error) {
    ours.events.open('startup_failed', error instanceof Error ? error.message : 'the session did not start');
    throw error;
  } finally {
    timer.cancel();
  }
}

async function greet(opening: ThreadOpening): Promise<OpenedSession> {
  const { connection, options, reporter, events, signal } = opening;
  await connection.request('initialize', initializeParams(options), options.readTimeoutMs, signal);
  connection.notifyInitialized();
  const { thread, isResumed } = await openThread(opening);
  const threadId = idIn(thread, 'thread');
  if (threadId === null) throw new BatonError('agent_protocol_error', 'The answer of Codex has no thread id.');
  reporter.meter.main = threadId;
  reporter.meter.model = textOf(thread.model);
  const how = `Codex ${isResumed ? 'resumes' : 'starts'} thread ${threadId}`;
  events.open('session_started', how, { payload: { threadId, model: thread.model, isResumed } });
  return { threadId, isResumed };
}
