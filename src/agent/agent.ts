import type { QuotaWindow } from '../core/account/account.ts';
import type { BatonError } from '../core/baton-error.ts';
import type { AgentQuestion, QuestionAnswer } from '../core/command/question.ts';
import type { ToolAddress, ToolSet } from '../core/tool-set.ts';

/**
 * The seam to a coding agent. `test/conformance/agent.ts` is its suite; every backend runs it unchanged.
 *
 * A session is one live agent on one workspace. It runs turns one after the other, reports what happens as events, and
 * is stopped exactly once. What must hold:
 *
 * - `startSession` resolves to a session that is ready for a turn, or rejects with a BatonError and leaves no process.
 * - `runTurn` always settles: with the agent's own verdict; as `failed` when the process ends, is silent for
 *   `turnTimeoutMs`, or breaks its protocol; as `cancelled` when the signal aborts. An exit or a silence is never
 *   success.
 * - After `stop` resolves, no process of the session is left, grandchildren included. A second `stop` does nothing
 *   more.
 * - Events arrive in order, the first is `session_started`, and none arrives after `stop` has resolved.
 * - Every request of the agent to its client gets an answer: by the policy of the session, by a person through `ask`,
 *   or with an error of its protocol. While a person is asked, silence is not counted.
 * - If the thread to continue no longer exists, the session does not fail: it starts a new thread, and `isResumed` is
 *   false.
 * - The error code names the failure: `agent_quota_exhausted` (with `details.resets_at` where the time is known, and
 *   `details.billing` where waiting does not help), `agent_auth_failed`, `agent_context_exhausted` (with
 *   `details.kind`, `token` or `context`), or an ordinary failure.
 */
export interface Agent {
  readonly backend: string;
  /** Values passed to the program that must be masked in its output, in addition to the secrets of the settings. */
  readonly secrets?: readonly string[];
  /** True where only its program knows what it uses: then the tool `report_usage` is offered to it. */
  readonly usageByTool?: boolean;
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
  /**
   * The agent reads its workspace and changes nothing in it, nor in `writableRoots`. Each backend uses the strictest of
   * its own means; where isolation is `namespaces`, both are mounted read-only too. The agent's own home and scratch
   * folders stay writable. Not every backend can enforce it, so the caller compares the tree afterwards.
   */
  readonly isReadOnly?: boolean;
  /** The title of the work for people, such as `BAT-1: Fix the login page`. */
  readonly title: string;
  /** Variables of Baton's own for the agent, such as `BATON_ISSUE_IDENTIFIER`. */
  readonly env: Readonly<Record<string, string>>;
  /** How this session differs from an ordinary one, because the last one ran out of context. */
  readonly recovery: SessionRecovery | null;
  readonly tools: ToolSet;
  /** The same tools over HTTP, for agents that speak MCP; null where there is no MCP endpoint. */
  readonly toolAddress: ToolAddress | null;
  /**
   * Asks a person. Resolves with the answer, or with null when no answer will come: then the run is about to end, and
   * the agent gets a refusal. Aborting the signal withdraws the question. Never rejects.
   */
  readonly ask: (question: AgentQuestion, signal?: AbortSignal) => Promise<QuestionAnswer | null>;
  /**
   * Called as soon as a process of the agent exists and before anything is asked of it, so that the caller can store
   * it. Called with null when that process has ended, before `stop` resolves and before the next process is reported.
   */
  readonly onProcess: (process: AgentProcess | null) => void;
  readonly onEvent: (event: AgentEvent) => void;
  /** Called right before each process is launched. Returns false when another daemon may have the issue by now. */
  readonly isStillOurs: () => boolean;
  readonly signal?: AbortSignal;
}

/** Identifies a process for later: the pid alone may belong to another process by then. */
export interface AgentProcess {
  readonly pid: number;
  /** Distinguishes it from a later process with the same pid; null where the platform does not report it. */
  readonly startTime: number | null;
}

/** What a session does differently after the last one ran out of context. A backend ignores what it cannot do. */
export interface SessionRecovery {
  /** Keep the conversation below this many tokens. */
  readonly budgetTokens?: number;
  /** Make the continued thread shorter before the first turn. */
  readonly compact?: boolean;
  /** Use this model instead. */
  readonly model?: string;
}

export interface AgentSession {
  /** The agent's own name for the conversation, for a later `threadId`. Null where it has none. */
  readonly threadId: string | null;
  /** True when the session continues the requested thread; false for a new thread. */
  readonly isResumed: boolean;
  /** The live process, or null when the backend has none between turns. */
  readonly pid: number | null;
  /** Whether a later turn remembers the earlier ones; if not, each turn gets the whole prompt. */
  readonly remembersTurns: boolean;
  runTurn(prompt: string, signal?: AbortSignal): Promise<TurnResult>;
  /**
   * Sends text to the agent in the middle of a turn. Resolves to false when no turn can receive it: then the text is
   * for the next turn. Absent where the backend cannot do it. Rejects when the agent refuses the text.
   */
  readonly steer?: (text: string) => Promise<boolean>;
  /**
   * Stops counting silence while a tool over HTTP asks a person, which the backend does not see. Returns a function
   * that ends the pause. Absent where the backend sees every question itself.
   */
  readonly pauseSilence?: () => () => void;
  stop(): Promise<void>;
}

/** How a turn ended, in the agent's own words where it gave any. */
export type TurnResult =
  /** `message` is the last thing the agent said, where it said anything. */
  | { readonly status: 'completed'; readonly message?: string }
  | { readonly status: 'failed'; readonly error: BatonError }
  | { readonly status: 'cancelled' }
  /** The agent cannot continue without a person. */
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
  /** The windows of the account's quota, where the event carries any; windows that it does not name are unchanged. */
  readonly quota?: readonly QuotaWindow[];
  /** The limits in the agent's own words, where the event carries any; small, and only for display. */
  readonly rateLimits?: Readonly<Record<string, unknown>>;
  /** The whole event as JSON data for the transcript. The transcript writer cuts large parts. */
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
  /** Emitted by the runner, before it sends the prompt of a turn to the agent. */
  | 'turn_prompt'
  /** Emitted by the runner: what a person says to the agent, or answers it. */
  | 'person_said'
  /** Emitted for the run: the stage that begins. */
  | 'stage_changed';

export interface TokenUsage {
  readonly inputTokens: number;
  /** The part of the input that was read from a cache. */
  readonly cachedInputTokens?: number;
  readonly outputTokens: number;
  /** The part of the output that was reasoning. */
  readonly reasoningTokens?: number;
  readonly totalTokens: number;
  /** In millionths of a US dollar, where the agent reports its cost. */
  readonly costMicroUsd?: number;
  /** The model in use now, where the agent reports it: prices differ by model. */
  readonly model?: string;
}
