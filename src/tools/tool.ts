import * as z from 'zod';
import type { Chance } from '../clock/chance.ts';
import type { Clock } from '../clock/clock.ts';
import type { ReportedUsage } from '../core/account/token-cost.ts';
import { BatonError } from '../core/baton-error.ts';
import type { AgentQuestion, QuestionAnswer } from '../core/command/question.ts';
import type { Issue } from '../core/issue/issue.ts';
import type { SaidLearning } from '../core/learning/learnings-proposal.ts';
import type { Shortcoming } from '../core/pipeline/completion.ts';
import type { PlanDraft, PlanProblem } from '../core/planner/plan.ts';
import type { Opinion } from '../core/pull/judge.ts';
import type { SaidIssue } from '../core/task/proposal.ts';
import type { ProvenCommand, SaidSetup } from '../core/task/setup-proposal.ts';
import type { ToolAnswer, ToolDescription } from '../core/tool-set.ts';
import type { Ask, IssueComments, Tracker, WrittenText } from '../tracker/tracker.ts';

/** What a tool may reach: one run, its issue, its tracker. Fixed when the session starts and never widened. */
export interface ToolContext {
  readonly runId: string;
  readonly issueId: string;
  readonly tracker: Tracker;
  readonly clock: Clock;
  /** Draws the fence marks, which must not be guessable; by default the machine's own source. */
  readonly chance?: Chance;
  /** The authors whose text an agent gets unfenced (`tracker.trusted_authors`); by default none. */
  readonly trustedAuthors?: readonly string[];
  /** Finds out who wrote a text; absent: the author that the tracker names. */
  readonly trust?: TextTrust;
  /** Whether a label tells Baton what to do, and so is for people; absent: none is. */
  readonly steers?: (label: string) => boolean;
  readonly onProgress: (text: string) => void;
  /** Counts what the agent says that it used; absent where its backend sees that itself. */
  readonly onUsage?: (usage: ReportedUsage) => void;
  /** Takes the agent's words for its pull request; absent where runs do not lead to one. */
  readonly onPropose?: (proposal: { readonly title: string; readonly body: string }) => void;
  /** Takes what a judge says; present only for a judge, who gets no tool that changes anything. */
  readonly onOpinion?: (opinion: Opinion) => void;
  /** Takes what a phase agent says about its phase; present only for one, which gets no tool that moves its issue. */
  readonly onComplete?: (said: {
    readonly summary: string;
    readonly skipTo: string | null;
  }) => Promise<readonly Shortcoming[]>;
  /** Takes the plan of a planner; present only for one. */
  readonly onPlan?: (
    draft: PlanDraft,
    signal: AbortSignal,
  ) => Promise<{ readonly problems: readonly PlanProblem[] } | { readonly made: readonly string[] }>;
  /** Takes the issues that the agent of a task proposes; present only for one, which gets no tool about an issue. */
  readonly onProposeIssues?: (
    said: readonly SaidIssue[],
  ) => Promise<{ readonly kept: number; readonly duplicates: number } | { readonly most: number }>;
  /** Takes the learnings that a learner proposes; present only for one. */
  readonly onProposeLearnings?: (
    said: readonly SaidLearning[],
  ) => Promise<{ readonly kept: number } | { readonly most: number } | { readonly unknown: readonly string[] }>;
  /** Runs the commands that the agent of a setup proposes, and takes them if all passed; present only for one. */
  readonly onProposeSetup?: (
    said: SaidSetup,
    signal: AbortSignal,
  ) => Promise<
    | { readonly kind: 'noted'; readonly commands: number }
    | { readonly kind: 'not_proven'; readonly commands: readonly ProvenCommand[]; readonly triesLeft: number }
  >;
  /** What a judge judges; absent: a change. */
  readonly judges?: 'artifact';
  /** The run moves its own issue to this state; null: it may move it to any state, by the tracker's own tool. */
  readonly onMove: (state: string | null) => void;
  /** The move that was reported last was not made. */
  readonly onNotMoved: () => void;
  /** Asks a person; null when no answer will come. Aborting the signal takes the question back. Never rejects. */
  readonly ask: (question: AgentQuestion, signal?: AbortSignal) => Promise<QuestionAnswer | null>;
  /** False when another daemon may have the issue by now: then nothing is done for this run any more. */
  readonly isStillOurs: () => boolean;
}

/** Who wrote a text: the author that the tracker names may not be the only one. */
export interface TextTrust {
  /** Without authors where someone who is not trusted, or a run, wrote in it. */
  ofIssue(issue: Issue, ask: Ask): Promise<Issue>;
  ofComments(said: IssueComments): Promise<IssueComments>;
  /** Keeps that a run wrote it. */
  note(text: WrittenText, runId: string): Promise<void>;
}

/** One thing an agent may ask Baton to do. */
export interface Tool extends ToolDescription {
  /** How long it may take; null: until a person has answered. */
  readonly timeLimitMs: number | null;
  /** Whether the tracker may have changed when a call was cut off. */
  readonly changesTracker: boolean;
  /** How many comments and the like a call with this input may write; absent: none. */
  readonly writesIn?: (input: unknown) => number;
  /** Checks the input, then acts. Rejects with a BatonError that says what is allowed. */
  call(input: unknown, context: ToolContext, ask: ToolAsk): Promise<ToolAnswer>;
}

/** How a tool calls the tracker: counted as the agent's request, and aborted when its caller stops waiting. */
export type ToolAsk = Ask & { readonly signal: AbortSignal };

/** A tracker has answered or failed within this time; a call that takes longer hangs. */
export const timeLimitMs = 60_000;

/** More output is of no use to an agent, and would push everything else out of its context. */
export const mostOutputBytes = 256 * 1_024;

interface ToolDefinition<Input> {
  readonly name: string;
  readonly description: string;
  readonly changesTracker: boolean;
  readonly waitsForPerson?: boolean;
  /** How long it may take, where that is not the usual time. */
  readonly timeLimitMs?: number;
  readonly input: z.ZodType<Input>;
  run(input: Input, context: ToolContext, ask: ToolAsk): Promise<string>;
}

/** Builds a tool from its definition: the schema describes the input to the agent, and checks it. */
export function defineTool<Input>(definition: ToolDefinition<Input>): Tool {
  const { name, description, changesTracker } = definition;
  let inputSchema: Tool['inputSchema'] | undefined;
  return {
    name,
    description,
    changesTracker,
    timeLimitMs: definition.waitsForPerson === true ? null : (definition.timeLimitMs ?? timeLimitMs),
    // For the first run that is offered it: this takes longer than all else that a tool needs at the start.
    get inputSchema() {
      inputSchema ??= z.toJSONSchema(definition.input, { io: 'input' });
      return inputSchema;
    },
    call: async (input, context, ask) => {
      const parsed = definition.input.safeParse(input ?? {});
      if (parsed.success) return { success: true, output: await definition.run(parsed.data, context, ask) };
      const what = z.prettifyError(parsed.error).replaceAll('\n', ' ');
      throw new BatonError('invalid_tool_arguments', `The arguments of ${name} are invalid: ${what}`);
    },
  };
}
