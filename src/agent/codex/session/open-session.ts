import { BatonError } from '../../../core/baton-error.ts';
import type { SessionRequest } from '../../agent.ts';
import type { AgentParts } from '../../launch-agent.ts';
import type { CodexAgentOptions } from '../codex-options.ts';
import { textOf } from '../wire/fields.ts';
import { openThread, type ThreadOpening } from './open-thread.ts';
import { idIn, initializeParams } from './session-params.ts';

export interface OpenedSession {
  readonly threadId: string;
  readonly isResumed: boolean;
}

/** However little an answer may take: a machine that has just started is slow. */
const leastLimitMs = 60_000;
/** There are three answers to wait for; each may come late, and not all of them for ever. */
const limitInAnswers = 12;

/**
 * The first words with Codex, up to its thread, told as `session_started` or `startup_failed`. Each answer has its own
 * time; the time for all of them is for one that says something again and again and never what it was asked.
 */
export async function openSession(
  ours: Pick<ThreadOpening, 'connection' | 'reporter' | 'teller'>,
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
    ours.teller.open('startup_failed', error instanceof Error ? error.message : 'the session did not start');
    throw error;
  } finally {
    timer.cancel();
  }
}

async function greet(opening: ThreadOpening): Promise<OpenedSession> {
  const { connection, options, reporter, teller, signal } = opening;
  await connection.request('initialize', initializeParams(options), options.readTimeoutMs, signal);
  connection.notifyInitialized();
  const { thread, isResumed } = await openThread(opening);
  const threadId = idIn(thread, 'thread');
  if (threadId === null) throw new BatonError('agent_protocol_error', 'Codex named no thread in its answer.');
  reporter.meter.main = threadId;
  reporter.meter.model = textOf(thread.model);
  const how = `Codex ${isResumed ? 'goes on with' : 'begins'} thread ${threadId}`;
  teller.open('session_started', how, { payload: { threadId, model: thread.model, isResumed } });
  return { threadId, isResumed };
}
