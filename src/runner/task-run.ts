import { learningLine } from '../core/learning/learning.ts';
import { learningsProposal, type SaidLearning } from '../core/learning/learnings-proposal.ts';
import { issuesProposal, type SaidIssue } from '../core/task/proposal.ts';
import type { SaidSetup } from '../core/task/setup-proposal.ts';
import type { TaskKind } from '../core/task/task.ts';
import { fence, fenceRule, fenceState, unfencedLine } from '../core/text/fence.ts';
import type { TaskBrief } from './runner.ts';
import { type SetupAnswer, type SetupProof, setupAnswer } from './setup-run.ts';

/*
 * The part of a run that concerns a task: what its agent is asked for, and how it answers. The text of a task and the titles
 * of issues may be words of strangers, so they are data in every prompt.
 */

/** The prompt of the agent of a task: its template, what the task is about, and how to answer. */
export function taskPrompt(template: string, brief: TaskBrief, mark: string): string {
  const { task, most } = brief;
  const parts = [
    template,
    ...(task.text === '' ? [] : [`The text:\n\n${fence(task.text, mark)}`]),
    task.kind === 'learn' ? knownLearnings(brief, mark) : openIssues(brief, mark),
    'The current folder is a checkout of the repository. You may only read it. Do not change anything in it.',
    unfencedLine(answerBy[task.kind](most), mark),
  ];
  const text = parts.join('\n\n');
  return fenceState(text, mark) === 'none' || text.includes(fenceRule(mark)) ? text : `${fenceRule(mark)}\n\n${text}`;
}

function openIssues({ open }: TaskBrief, mark: string): string {
  const known = open.slice(0, mostListed).map(({ identifier, title }) => `${identifier}: ${title}`);
  const left = open.length - known.length;
  if (known.length === 0) return 'No issue is open now.';
  return `The issues that are open now${left === 0 ? '' : ` (${left} more are not listed)`}:\n\n${fence(known.join('\n'), mark)}`;
}

function knownLearnings({ learnings }: TaskBrief, mark: string): string {
  if (learnings.length === 0) return 'There are no learnings yet.';
  return `The learnings so far:\n\n${fence(learnings.map(learningLine).join('\n'), mark)}`;
}

/** More titles than these are of no use to an agent. */
const mostListed = 300;

const proposeIssues = (most: number): string =>
  `End with one call of the tool \`propose_issues\`, with at most ${most} issues. Nothing is filed before a person accepts it. Baton reads nothing else that you write.`;

const answerBy: Readonly<Record<TaskKind, (most: number) => string>> = {
  intake: proposeIssues,
  scan: proposeIssues,
  setup: () => setupAnswer,
  learn: (most) =>
    `End with one call of the tool \`propose_learnings\`, with at most ${most} learnings. No agent gets one before a person accepts it. Baton reads nothing else that you write.`,
};

/** For an agent whose turn ended without an answer. */
export function taskReminder({ task, most }: TaskBrief): string {
  return `You have not answered. ${answerBy[task.kind](most)}`;
}

/** The tools by which the agent of a task answers. */
export interface TaskTools {
  /** Takes the issues that it proposes; resolves with what Baton made of them. Present only for an intake and a scan. */
  readonly onProposeIssues?: (said: readonly SaidIssue[]) => Promise<ProposedAnswer>;
  /** Takes the learnings that it proposes. Present only for a learner. */
  readonly onProposeLearnings?: (said: readonly SaidLearning[]) => Promise<LearningsAnswer>;
  /** Runs the commands that it proposes, and takes them if all passed. Present only for a setup. */
  readonly onProposeSetup?: (said: SaidSetup, signal: AbortSignal) => Promise<SetupAnswer>;
}

export type ProposedAnswer =
  | { readonly kept: number; readonly duplicates: number }
  /** More than the task allows. */
  | { readonly most: number };

export type LearningsAnswer =
  | { readonly kept: number }
  /** More than the task allows. */
  | { readonly most: number }
  /** Numbers of lines, and ids of learnings, that do not exist. */
  | { readonly unknown: readonly string[] };

/** How the run of a task ends: by the tool. */
export class TaskEnd {
  readonly #brief: TaskBrief | null;
  readonly #proof: SetupProof | null;
  isDone = false;

  constructor(brief: TaskBrief | null, proof: SetupProof | null = null) {
    this.#brief = brief;
    this.#proof = proof;
  }

  tools(): TaskTools {
    const brief = this.#brief;
    if (brief === null) return {};
    const proof = this.#proof;
    if (proof !== null && brief.task.kind === 'setup')
      return {
        onProposeSetup: async (said, signal) => {
          const answer = await proof.take(said, signal);
          this.isDone ||= answer.kind === 'noted';
          return answer;
        },
      };
    if (brief.task.kind === 'learn')
      return {
        onProposeLearnings: async (said) => {
          if (said.length > brief.most) return { most: brief.most };
          const answer = learningsProposal(said, brief.task.text, brief.learnings);
          if ('unknown' in answer) return answer;
          await brief.propose(answer);
          this.isDone = true;
          return { kept: answer.learnings.length };
        },
      };
    return {
      onProposeIssues: async (said) => {
        if (said.length > brief.most) return { most: brief.most };
        const proposal = issuesProposal(said, brief.open);
        await brief.propose(proposal);
        this.isDone = true;
        const duplicates = proposal.issues.filter(({ duplicateOf }) => duplicateOf !== null).length;
        return { kept: proposal.issues.length, duplicates };
      },
    };
  }
}
