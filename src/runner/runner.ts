import type { AgentEvent, AgentProcess, SessionRequest } from '../agent/agent.ts';
import type { AgentQuestion, QuestionAnswer } from '../core/command/question.ts';
import type { Issue } from '../core/issue/issue.ts';
import type { RecoveryStep } from '../core/run/context-recovery.ts';
import type { EarlierWork } from '../core/run/earlier-work.ts';
import type { RunOutcome, RunStage, StopReason } from '../core/run/run.ts';
import type { Delivery } from '../core/run/run-evidence.ts';
import type { AccountSettings } from '../core/settings.ts';
import type { RetryKind, Workflow } from '../core/workflow.ts';
import type { WorkspaceFacts } from '../workspace/workspace.ts';

/**
 * The seam between the scheduler and one run. What must hold: `outcome` always resolves and never rejects, and when it
 * does, no process of the run is left and `after_run` has been called. The workflow of a run is the one it began with.
 */
export interface Runner {
  start(request: RunRequest): LiveRun;
}

export interface RunRequest {
  readonly runId: string;
  readonly issue: Issue;
  readonly workflow: Workflow;
  readonly attempt: number | null;
  readonly retryKind: RetryKind | null;
  /** The agent's own name of an earlier conversation to go on with; null begins a new one. */
  readonly threadId: string | null;
  /** Whose quota it uses. */
  readonly account: AccountSettings;
  /** What this run does differently because the last one died of its context; null for an ordinary one. */
  readonly recovery: RecoveryStep | null;
  /** What a person answered to the run before; the agent is told it first. */
  readonly answers: readonly ToldAnswer[];
  /** What people told earlier runs; an agent that does not remember them is told it again. */
  readonly answersBefore: readonly ToldAnswer[];
  readonly note: string | null;
  /** The run of the issue before this one, where there was one: for an agent that does not remember it. */
  readonly earlier: EarlierWork | null;
  /** Asks a person, as `SessionRequest.ask`. */
  readonly ask: SessionRequest['ask'];
  /** Asked right before an agent is launched: false when another daemon may have the issue by now. */
  readonly isStillOurs: () => boolean;
  /** Hears what happens in the run, while it happens. */
  readonly tell: (fact: RunFact) => void;
}

export interface ToldAnswer {
  readonly question: AgentQuestion;
  readonly answer: QuestionAnswer;
}

/** What a run tells while it goes on. */
export type RunFact =
  | { readonly kind: 'stage'; readonly stage: RunStage }
  | { readonly kind: 'workspace'; readonly path: string }
  /** Null when the process that was told before has ended. */
  | { readonly kind: 'process'; readonly process: AgentProcess | null }
  | { readonly kind: 'session'; readonly threadId: string | null }
  | { readonly kind: 'turn'; readonly turn: number }
  /** The last thing the agent said in a turn that was completed. */
  | { readonly kind: 'message'; readonly text: string }
  /** The agent has the first prompt, with the answers in it. */
  | { readonly kind: 'answers_told' }
  | { readonly kind: 'event'; readonly event: AgentEvent }
  /** The agent moves its own issue to this state, by a tool; null: by the tracker's own tool, to a state nobody knows. */
  | { readonly kind: 'moved'; readonly to: string | null }
  /** The move that was told last was refused. */
  | { readonly kind: 'not_moved' }
  /**
   * Whether anything in the workspace changed while there was a session, and what is in it now; null when that could not
   * be seen. Told once, before the outcome, by every run that had a session.
   */
  | { readonly kind: 'changed'; readonly changed: boolean | null; readonly facts: WorkspaceFacts | null }
  /** What became of the branch of the workspace. Told once, after that and before the outcome, where there is one. */
  | { readonly kind: 'published'; readonly delivery: Delivery };

export interface LiveRun {
  readonly outcome: Promise<RunOutcome>;
  /**
   * Says something to the agent: `told` in the turn that goes on, or `kept` for the prompt of the next one. Rejects with
   * `command_refused` when the backend cannot hear it in either.
   */
  steer(text: string): Promise<'told' | 'kept'>;
  /** Whether that could be told just now. Absent: nobody knows before it is tried. */
  canHear?(): boolean;
  /** Asks the run to end; the first reason counts. */
  stop(reason: StopReason): void;
}
