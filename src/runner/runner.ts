import type { AgentEvent, AgentProcess, SessionRequest } from '../agent/agent.ts';
import type { Message } from '../core/command/message.ts';
import type { AgentQuestion, QuestionAnswer } from '../core/command/question.ts';
import type { Issue } from '../core/issue/issue.ts';
import type { Learning } from '../core/learning/learning.ts';
import type { CompletionRequest, Shortcoming } from '../core/pipeline/completion.ts';
import type { Phase } from '../core/pipeline/phase.ts';
import type { PlanDraft, PlanProblem } from '../core/planner/plan.ts';
import type { Opinion, Verdict } from '../core/pull/judge.ts';
import type { Check, PullRequest, PullRound } from '../core/pull/pull-request.ts';
import type { RecoveryStep } from '../core/run/context-recovery.ts';
import type { EarlierWork } from '../core/run/earlier-work.ts';
import type { Role } from '../core/run/role.ts';
import type { RunOutcome, RunStage, StopReason } from '../core/run/run.ts';
import type { Publication } from '../core/run/run-evidence.ts';
import type { AccountSettings } from '../core/settings.ts';
import type { KnownIssue, Proposal } from '../core/task/proposal.ts';
import type { Task } from '../core/task/task.ts';
import type { RetryKind, Workflow } from '../core/workflow.ts';
import type { WorkspaceFacts } from '../workspace/workspace.ts';

/**
 * The interface between the scheduler and one run. What must hold: `outcome` always resolves and never rejects, and
 * when it does, no process of the run is left and `after_run` has been called. A run keeps the workflow it began with.
 */
export interface Runner {
  start(request: RunRequest): LiveRun;
}

export interface RunRequest {
  readonly runId: string;
  readonly issue: Issue;
  readonly role: Role;
  readonly workflow: Workflow;
  readonly attempt: number | null;
  readonly retryKind: RetryKind | null;
  /** The agent's own name of an earlier conversation to resume; null begins a new one. */
  readonly threadId: string | null;
  /** The account whose quota it uses. */
  readonly account: AccountSettings;
  /** What this run does differently because the last one used up its context; null for an ordinary run. */
  readonly recovery: RecoveryStep | null;
  /** A person's answers to the previous run; the agent gets them first. */
  readonly answers: readonly AnsweredQuestion[];
  /** People's answers to earlier runs; an agent that does not remember them gets them again. */
  readonly answersBefore: readonly AnsweredQuestion[];
  /** Words for the agent, the oldest first. */
  readonly messages: readonly Message[];
  /** The agent also gets the comments on the issue since then; null: it needs none. */
  readonly commentsSince: number | null;
  /** The commits that were in review before: a run that ends at one of them has made nothing new. */
  readonly reviewed: readonly string[];
  /** The branch that its pull request goes into, which a person may have chosen at the host; null: it has none. */
  readonly into: string | null;
  /** The previous run of the issue, if there was one: for an agent that does not remember it. */
  readonly earlier: EarlierWork | null;
  /** What a judge reviews; null for a worker. */
  readonly judged: JudgeBrief | null;
  /** What the pipeline says about its issue; null: it is in no phase. */
  readonly phase: PhaseBrief | null;
  /** What the agent of a task is asked for; null: the run is about an issue. */
  readonly task: TaskBrief | null;
  /** Stores what its agent completed; resolves with what is wrong with it. Only for a phase agent. */
  readonly complete: (completion: CompletionRequest) => Promise<readonly Shortcoming[]>;
  /** For a planner; null for all others. */
  readonly planner: { /** Its subtasks may be split again. */ readonly mayNest: boolean } | null;
  /** Stores the plan of its agent and makes it in the tracker. Only for a planner. */
  readonly plan: (draft: PlanDraft, signal: AbortSignal) => Promise<PlanAnswer>;
  /** What earlier work taught, for this issue. */
  readonly learnings: readonly Learning[];
  /** For the worker of an issue that was split: what became of its parts. Empty: it was not. */
  readonly parts: readonly PartOfIssue[];
  /** Asks a person, as `SessionRequest.ask`. */
  readonly ask: SessionRequest['ask'];
  /** The issue as it is now, read from the tracker; null when it is gone. */
  readonly readIssue: (signal: AbortSignal) => Promise<Issue | null>;
  /** Called right before an agent is launched: false when another daemon may have the issue by now. */
  readonly isStillOurs: () => boolean;
  /** Called with each fact about the run, while it happens. */
  readonly report: (fact: RunFact) => void;
}

/** A task, and what its agent has to know. */
export interface TaskBrief {
  readonly task: Task;
  /** The issues that are open now. */
  readonly open: readonly KnownIssue[];
  /** What agents of the project get to know already. Empty, except for a learner. */
  readonly learnings: readonly Learning[];
  /** How many issues or learnings it may propose. */
  readonly most: number;
  /** Stores what it proposes, until a person decides; the last one counts. */
  readonly propose: (proposal: Proposal) => Promise<void>;
}

/** A change at one commit, and what is known about it. */
export interface JudgeBrief extends Pick<PullRequest, 'number' | 'title' | 'body' | 'branch' | 'base' | 'baseCommit'> {
  readonly commit: string;
  /** Those of `review.checks`, and those of the host. */
  readonly checks: readonly Pick<Check, 'name' | 'result'>[];
  /** The first one first, with what people said about it. */
  readonly rounds: readonly JudgedRound[];
  /** Of this commit and of earlier ones. */
  readonly verdicts: readonly Verdict[];
  /** What earlier phases prepared, in their order. */
  readonly artifacts: PhaseBrief['earlier'];
}

export interface JudgedRound extends Pick<PullRound, 'headCommit' | 'sentBack'> {
  readonly words: readonly string[];
}

/** A phase of an issue, for an agent that works in it or after it. */
export interface PhaseBrief {
  readonly name: string;
  /** Null: the issue is ready, and its worker implements it. */
  readonly contract: Phase | null;
  /** The artifacts of the other phases, in their order. */
  readonly earlier: readonly { readonly phase: string; readonly text: string }[];
  /** The newest artifact of this phase; null: there is none yet. */
  readonly current: string | null;
  /** Why that was sent back; empty: it was not. */
  readonly reasons: readonly string[];
  /** The phases that its agent may skip to. */
  readonly later: readonly string[];
  /** Whether artifacts are committed with the change. */
  readonly isCommitted: boolean;
  /** What a judge of the artifact reviews; null for all others. */
  readonly judged: { readonly summary: string; readonly skipTo: string | null; readonly text: string } | null;
}

/** What a planner gets as the answer to its tool. */
export type PlanAnswer =
  | { readonly problems: readonly PlanProblem[] }
  /** The identifiers of the children; none: the issue goes to a worker. */
  | { readonly made: readonly string[] };

/** A part of an issue that was split, when it is over. */
export interface PartOfIssue {
  readonly identifier: string;
  readonly title: string;
  /** Null: the tracker does not have it any more. */
  readonly state: string | null;
  readonly change: {
    readonly title: string;
    readonly branch: string;
    readonly isMerged: boolean;
    readonly url: string | null;
  } | null;
}

export interface AnsweredQuestion {
  readonly question: AgentQuestion;
  readonly answer: QuestionAnswer;
}

/** What a run reports while it is in progress. */
export type RunFact =
  | { readonly kind: 'stage'; readonly stage: RunStage }
  | { readonly kind: 'workspace'; readonly path: string }
  /** Null when the process that was reported before has ended. */
  | { readonly kind: 'process'; readonly process: AgentProcess | null }
  | { readonly kind: 'session'; readonly threadId: string | null }
  | { readonly kind: 'turn'; readonly turn: number }
  /** The last message of the agent in a completed turn. */
  | { readonly kind: 'message'; readonly text: string }
  /** The agent has the first prompt, with the answers and the messages. Without the comments they could not be read. */
  | { readonly kind: 'prompt_delivered'; readonly hasComments: boolean }
  | { readonly kind: 'event'; readonly event: AgentEvent }
  /** The agent moves its own issue to this state, by a tool; null: by the tracker's own tool, to an unknown state. */
  | { readonly kind: 'moved'; readonly to: string | null }
  /** The move that was reported last was refused. */
  | { readonly kind: 'not_moved' }
  /** The agent proposes its change, with its words for the pull request. */
  | { readonly kind: 'proposed'; readonly title: string; readonly body: string }
  /** The judge says what it thinks of the commit; the last word counts. */
  | { readonly kind: 'opinion'; readonly opinion: Opinion }
  /** Read after a turn: no agent should work on the issue any more. Null: the tracker does not have it. */
  | { readonly kind: 'left'; readonly issue: Issue | null }
  /**
   * Whether anything in the workspace changed during the session, and its current facts; null when that could not be
   * read. Every run with a session reports this once, before the outcome.
   */
  | {
      readonly kind: 'changed';
      readonly changed: boolean | null;
      readonly facts: WorkspaceFacts | null;
      /** Whether HEAD moved; absent where the workspace is not a git repository. */
      readonly committed?: boolean;
    }
  /**
   * The result of publishing the workspace's branch, if there is one. Reported once, after `changed` and before the
   * outcome.
   */
  | { readonly kind: 'published'; readonly publication: Publication };

export interface LiveRun {
  readonly outcome: Promise<RunOutcome>;
  /**
   * Sends a message to the agent: `delivered` during the current turn, or `queued` for the next prompt. Rejects with
   * `command_refused` when the backend can take it in neither way.
   */
  steer(text: string): Promise<'delivered' | 'queued'>;
  /** Whether a message could be sent now. Absent: unknown until it is tried. */
  canHear?(): boolean;
  /** Asks the run to end; the first reason counts. */
  stop(reason: StopReason): void;
}
