import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
import type { Agent, SessionRequest } from '../agent.ts';
import type { AgentParts } from '../launch-agent.ts';
import { launchInShell } from '../launch-in-shell.ts';
import { readonlyCode } from '../shell-text.ts';
import { type SessionStart, sessionArguments, sessionEnvironment } from './session/arguments.ts';
import { ClaudeSession, uuidOf } from './session/session.ts';
import type { ClaudeOptions } from './settings.ts';

/**
 * Claude Code in its streaming JSON mode: one process a session, one conversation, several turns. Baton reads its
 * messages tolerantly.
 */
export function createClaudeAgent(options: ClaudeOptions, parts: AgentParts): Agent {
  return { backend: 'claude', startSession: (request) => startSession(options, parts, request) };
}

/** A conversation is given up only when Claude Code does not have it; then a new one starts in its place. */
async function startSession(
  options: ClaudeOptions,
  parts: AgentParts,
  request: SessionRequest,
): Promise<ClaudeSession> {
  const { threadId, runId } = request;
  const fresh = { sessionId: uuidOf(`${runId} session`) };
  if (threadId === null) return tryStart(options, parts, request, fresh);
  try {
    return await tryStart(options, parts, request, { resume: threadId });
  } catch (error) {
    if (!isLost(error)) throw error;
    const session = await tryStart(options, parts, request, fresh);
    session.events.emit('notification', `starting a new session, because the old one is lost: ${threadId}`);
    return session;
  }
}

async function tryStart(
  options: ClaudeOptions,
  parts: AgentParts,
  request: SessionRequest,
  start: SessionStart,
): Promise<ClaudeSession> {
  request.signal?.throwIfAborted();
  await makeHome(parts);
  const env = { ...request.env, ...sessionEnvironment(options, request) };
  const args = sessionArguments(options, request, start);
  const process = await launchInShell(options.command, args, { ...request, env }, parts);
  const session = new ClaudeSession(process, start, request, options, parts);
  try {
    await session.begin();
    return session;
  } catch (error) {
    const shown = launchError(error);
    if (!isLost(shown)) session.events.open('startup_failed', shown instanceof Error ? shown.message : String(shown));
    await session.stop();
    throw shown;
  }
}

/**
 * Conversations are kept in this folder. The isolation shows only a folder that exists: one that Claude Code makes
 * itself, as with a key and no login, would be gone with the process.
 */
async function makeHome({ accountEnv, daemonEnv }: AgentParts): Promise<void> {
  const folder =
    accountEnv.CLAUDE_CONFIG_DIR ?? daemonEnv.CLAUDE_CONFIG_DIR ?? path.join(daemonEnv.HOME ?? '', '.claude');
  // Claude Code says what is wrong with a folder that cannot be made.
  if (path.isAbsolute(folder)) await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => {});
}

/** Claude Code exits when the conversation to resume does not exist, or has no message yet. */
function isLost(error: unknown): boolean {
  const said = error instanceof BatonError ? error.details.stderr : null;
  return typeof said === 'string' && /\bNo conversation found\b/i.test(said);
}

/** Wraps any error from before the session was ready: Claude Code could not be started. */
function launchError(error: unknown): unknown {
  if (!(error instanceof BatonError) || !['agent_exited', 'agent_turn_timeout'].includes(error.code)) return error;
  const isReadonly = error.details.exit_code === readonlyCode;
  const why = isReadonly ? ' A login profile may have made a variable readonly that Baton must set or unset.' : '';
  return new BatonError('agent_launch_failed', error.message + why, { cause: error, details: error.details });
}
