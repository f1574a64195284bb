import type { QuotaWindow } from '../core/account/account.ts';
import type { BatonError } from '../core/baton-error.ts';
import type { AgentQuestion, QuestionAnswer } from '../core/command/question.ts';
import type { ToolAddress, ToolDoor } from '../core/tool-door.ts';

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
 * - Whatever the agent asks of its client is answered: by the policy of the session, by a person through `ask`, or with
 *   an error of its protocol. While a person is asked, silence is not counted.
 * - A thread that is to be continued and is not there any more is no failure: a new one begins, and `isResumed` says so.
 * - What went wrong is told by its code: `agent_quota_exhausted` (with `details.resets_at` where it is known, and `details.billing` where no time mends it),
 *   `agent_auth_failed`, `agent_context_exhausted` (with `details.kind`, `token` or `context`), or an ordinary failure.
 */
export interface Agent {
  readonly backend: string;
  /** What its program is given and nobody may read in what it tells, beside the secrets of the settings. */
  readonly secrets?: readonly string[];
  startSession(request: SessionRequest): Promise<AgentSession>;
}

export interface SessionRequest {
  readonly runId: string;
  /** Absolute; the agent's working directory. */
  readonly workspace: string;
  /** Continue this thread of an earlier session where the backend can; null starts a new one. */
  readonly threadId: string | null;
  /** Directories outside of the workspace that the agent has to write to: its git directory. Absolute. */
  readonly writableRoots: readonly string[];
  /** What a person calls the work, such as `BAT-1: Mend the door`. */
  readonly title: string;
  /** Variables of Baton's own for the agent, such as `BATON_ISSUE_IDENTIFIER`. */
  readonly env: Readonly<Record<string, string>>;
  /** How this session differs from an ordinary one, because the last one died of its context. */
  readonly recovery: SessionRecovery | null;
  readonly tools: ToolDoor;
  /** The same tools over HTTP, for agents that speak MCP; null where nobody listens. */
  readonly toolAddress: ToolAddress | null;
  /**
   * Asks a person. Resolves with the answer, or with null when nobody will answer: then the run is about to end, and the
   * agent is told no. Aborting the signal takes the question back. Never rejects.
   */
  readonly ask: (question: AgentQuestion, signal?: AbortSignal) => Promise<QuestionAnswer | null>;
  /**
   * Told as soon as a process of the agent exists, before anything is asked of it, so that it can be written down; told
   * null when that process has ended, before `stop` resolves and before the next one is told.
   */
  readonly onProcess: (process: AgentProcess | null) => void;
  readonly onEvent: (event: AgentEvent) => void;
  /** Asked right before each process is launched: false when another daemon may have the issue by now. */
  readonly isStillOurs: () => boolean;
  readonly signal?: AbortSignal;
}

/** A process as it can be found again later: the pid alone may be somebody else's by then. */
export interface AgentProcess {
  readonly pid: number;
  /** Tells it from a later process with the same pid; null where the platform does not tell. */
  readonly startTime: number | null;
}

/** What a session does differently after the last one died of its context window. What a backend cannot do it leaves. */
export interface SessionRecovery {
  /** Keep the conversation below so many tokens. */
  readonly budgetTokens?: number;
  /** Make the continued thread shorter before the first turn. */
  readonly compact?: boolean;
  /** Use this model instead. */
  readonly model?: string;
}

export interface AgentSession {
  /** The agent's own name for the conversation, for a later `threadId`. Null where it has none. */
  readonly threadId: string | null;
  /** Whether the thread that was asked for goes on; false for a new one. */
  readonly isResumed: boolean;
  /** The live process, or null when the backend has none between turns. */
  readonly pid: number | null;
  /** Whether a later turn remembers the earlier ones; if not, each turn gets the whole prompt. */
  readonly remembersTurns: boolean;
  runTurn(prompt: string, signal?: AbortSignal): Promise<TurnResult>;
  /**
   * Says something to the agent in the middle of a turn. False when there is no turn that could hear it: then it is for
   * the next. Absent where the backend cannot. Rejects when the agent refuses it.
   */
  readonly steer?: (text: string) => Promise<boolean>;
  /**
   * A person is asked for the agent where the backend does not see it, by a tool over HTTP: from here on silence is not
   * counted. Gives what ends that. Absent where the backend sees every question itself.
   */
  readonly pauseSilence?: () => () => void;
  stop(): Promise<void>;
}

/** How a turn ended, in the agent's own words where it had any. */
export type TurnResult =
  /** `message` is the last thing the agent said, where it said anything. */
  | { readonly status: 'completed'; readonly message?: string }
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
  /** Running totals of the session, where the event carries them; never a difference, nothing of earlier sessions. */
  readonly usage?: TokenUsage;
  /** The windows of the account's quota, where the event carries any; windows that it does not name are as they were. */
  readonly quota?: readonly QuotaWindow[];
  /** What happened, whole, as JSON data for the transcript; large parts are cut by whoever writes it. */
  readonly payload?: unknown;
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
  | 'approval_required'
  | 'approval_auto_approved'
  | 'tool_call_completed'
  | 'tool_call_failed'
  | 'unsupported_tool_call'
  | 'notification'
  | 'other_message'
  | 'malformed'
  /** Told by the runner: what the agent is told in a turn, before it is. */
  | 'turn_prompt'
  /** Told by the runner: what a person says to the agent, or answers it. */
  | 'person_said'
  /** Told of the run: the stage that begins. */
  | 'stage_changed';

export interface TokenUsage {
  readonly inputTokens: number;
  /** Of the input, what was read from a cache. */
  readonly cachedInputTokens?: number;
  readonly outputTokens: number;
  /** Of the output, what was reasoning. */
  readonly reasoningTokens?: number;
  readonly totalTokens: number;
  /** In millionths of a US dollar, where the agent tells what it costs. */
  readonly costMicroUsd?: number;
  /** The model that is used now, where the agent tells: a price belongs to one. */
  readonly model?: string;
}
