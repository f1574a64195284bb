import type { BatonError } from '../core/baton-error.ts';
import type { ToolDoor } from '../core/tool-door.ts';

/**
 * The seam to a coding agent. `test/conformance/agent.ts` is its suite; every backend runs it unchanged.
 *
 * A session is one live agent on one workspace. It runs turns one after the other, tells what happens as events, and is
 * stopped exactly once. What must hold:
 *
 * - `startSession` resolves to a session that is ready for a turn, or rejects with a BatonError and leaves no process.
 * - `runTurn` always settles: with the agent's own verdict, or as `failed` when the process ends, says nothing for
 *   `turnTimeoutMs`, or breaks its protocol; as `cancelled` when the signal aborts. An exit or a silence is never success.
 * - After `stop` resolves, no process of the session is left, grandchildren included. Stopping twice does nothing more.
 * - Events arrive in order, the first is `session_started`, and none arrives after `stop` has resolved.
 */
export interface Agent {
  readonly backend: string;
  startSession(request: SessionRequest): Promise<AgentSession>;
}

export interface SessionRequest {
  readonly runId: string;
  /** Absolute; the agent's working directory. */
  readonly workspace: string;
  /** Continue this thread of an earlier session where the backend can; null starts a new one. */
  readonly threadId: string | null;
  /** Variables of Baton's own for the agent, such as `BATON_ISSUE_IDENTIFIER`. */
  readonly env: Readonly<Record<string, string>>;
  readonly tools: ToolDoor;
  /**
   * Told as soon as a process of the agent exists, before anything is asked of it, so that it can be written down; told
   * null when that process has ended, before `stop` resolves and before the next one is told.
   */
  readonly onProcess: (process: AgentProcess | null) => void;
  readonly onEvent: (event: AgentEvent) => void;
  readonly signal?: AbortSignal;
}

/** A process as it can be found again later: the pid alone may be somebody else's by then. */
export interface AgentProcess {
  readonly pid: number;
  /** Tells it from a later process with the same pid; null where the platform does not tell. */
  readonly startTime: number | null;
}

export interface AgentSession {
  /** The agent's own name for the conversation, for a later `threadId`. Null where it has none. */
  readonly threadId: string | null;
  /** The live process, or null when the backend has none between turns. */
  readonly pid: number | null;
  /** Whether a later turn remembers the earlier ones; if not, each turn gets the whole prompt. */
  readonly remembersTurns: boolean;
  runTurn(prompt: string, signal?: AbortSignal): Promise<TurnResult>;
  stop(): Promise<void>;
}

/** How a turn ended, in the agent's own words where it had any. */
export type TurnResult =
  | { readonly status: 'completed' }
  | { readonly status: 'failed'; readonly error: BatonError }
  | { readonly status: 'cancelled' }
  /** The agent cannot go on without a person. */
  | { readonly status: 'input_required'; readonly question: string };

/** One thing an agent did. The names are the specification's (10.4), the same for all backends. */
export interface AgentEvent {
  readonly name: AgentEventName;
  /** Wall time, UTC milliseconds. */
  readonly at: number;
  readonly pid: number | null;
  /** One line for people; nothing may be decided from it. */
  readonly summary: string;
  /** Running totals of the session, where the event carries them; never a difference. */
  readonly usage?: TokenUsage;
}

export type AgentEventName =
  | 'session_started'
  | 'startup_failed'
  | 'turn_started'
  | 'turn_completed'
  | 'turn_failed'
  | 'turn_cancelled'
  | 'turn_ended_with_error'
  | 'turn_input_required'
  | 'approval_auto_approved'
  | 'tool_called'
  | 'unsupported_tool_call'
  | 'notification'
  | 'other_message'
  | 'malformed';

export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** In millionths of a US dollar, where the agent tells what it costs. */
  readonly costMicroUsd?: number;
}
