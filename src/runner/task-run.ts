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
  const { task, open, mostIssues } = brief;
  const known = open.slice(0, mostListed).map(({ identifier, title }) => `${identifier}: ${title}`);
  const left = open.length - known.length;
  const parts = [
    template,
    ...(task.text === '' ? [] : [`The text:\n\n${fence(task.text, mark)}`]),
    known.length === 0
      ? 'No issue is open now.'
      : `The issues that are open now${left === 0 ? '' : ` (${left} more are not listed)`}:\n\n${fence(known.join('\n'), mark)}`,
    'The current folder is a checkout of the repository, for reading only. Do not change anything in it.',
    unfencedLine(answerBy[task.kind](mostIssues), mark),
  ];
  const text = parts.join('\n\n');
  return fenceState(text, mark) === 'none' || text.includes(fenceRule(mark)) ? text : `${fenceRule(mark)}\n\n${text}`;
}

/** More titles than these are of no use to an agent. */
const mostListed = 300;

const proposeIssues = (most: number): string =>
  `End with one call of the tool \`propose_issues\`, with at most ${most} issues. Nothing is filed before a person accepts it. Nothing else that you write is read.`;

const answerBy: Readonly<Record<TaskKind, (most: number) => string>> = {
  intake: proposeIssues,
  scan: proposeIssues,
  setup: () => setupAnswer,
};

/** For an agent whose turn ended without an answer. */
export function taskReminder({ task, mostIssues }: TaskBrief): string {
  return `You have not answered. ${answerBy[task.kind](mostIssues)}`;
}

/** The tools by which the agent of a task answers. */
export interface TaskTools {
  /** Takes the issues that it proposes; resolves with what Baton made of them. Present only for an intake and a scan. */
  readonly onProposeIssues?: (said: readonly SaidIssue[]) => Promise<ProposedAnswer>;
  /** Runs the commands that it proposes, and takes them if all passed. Present only for a setup. */
  readonly onProposeSetup?: (said: SaidSetup, signal: AbortSignal) => Promise<SetupAnswer>;
}

export type ProposedAnswer =
  | { readonly kept: number; readonly duplicates: number }
  /** More than the task allows. */
  | { readonly most: number };

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
    return {
      onProposeIssues: async (said) => {
        if (said.length > brief.mostIssues) return { most: brief.mostIssues };
        const proposal = issuesProposal(said, brief.open);
        await brief.propose(proposal);
        this.isDone = true;
        const duplicates = proposal.issues.filter(({ duplicateOf }) => duplicateOf !== null).length;
        return { kept: proposal.issues.length, duplicates };
      },
    };
  }
}
