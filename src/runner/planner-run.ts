import type { PlanDraft } from '../core/planner/plan.ts';
import { fence, fenceRule } from '../core/text/fence.ts';
import type { PartOfIssue, PlanAnswer, RunRequest } from './runner.ts';

/*
 * The part of a run that concerns plans: what a planner learns and how its run ends, and what the worker of an issue that
 * was split learns about its parts. Their titles are an agent's words, so they are data in every prompt.
 */

export function plannerPrompt(
  template: string,
  { workflow, planner }: Pick<RunRequest, 'workflow' | 'planner'>,
): string {
  const { maxChildren } = workflow.settings.planner;
  const rules = [
    'The current folder is a checkout of the repository. You may only read it. What you change in it is lost.',
    `End with one call of the tool \`create_subtasks\`, with 2 to ${maxChildren} subtasks in the order of the work, or with none if one change is enough. Baton reads nothing else that you write. Then end your turn.`,
    ...(planner?.mayNest === true
      ? [
          'Mark a subtask with `needs_planning` only if it is still too large for one change. Another planner then splits it again.',
        ]
      : []),
  ];
  return [template, ...rules].join('\n\n');
}

/** For the worker of an issue whose parts are over. */
export function partsPrompt(template: string, parts: readonly PartOfIssue[], mark: string): string {
  const lines = parts.map(({ identifier, title, state, change }) => {
    const what =
      change === null ? 'no change' : `${change.isMerged ? 'merged' : 'not merged'}, branch ${change.branch}`;
    return `${identifier} (${state ?? 'gone'}; ${what}): ${title}`;
  });
  const text = [
    template,
    'This issue was split into parts, and all of them have ended:',
    fence(lines.join('\n'), mark),
    'Check that together they do what was asked, and do what is missing. The work of a cancelled part was not done. If nothing is left to do, change nothing, say so in one sentence, and end your turn: the issue then goes to review with the changes of its parts.',
  ].join('\n\n');
  return text.includes(fenceRule(mark)) ? text : `${fenceRule(mark)}\n\n${text}`;
}

/** Each may write to the tracker. */
export const plannerTurns = 3;

/** How the run of a planner ends: by its tool. */
export class PlanEnd {
  readonly #request: RunRequest;
  #isMade = false;

  constructor(request: RunRequest) {
    this.#request = request;
  }

  tools(): { readonly onPlan?: (draft: PlanDraft, signal: AbortSignal) => Promise<PlanAnswer> } {
    return this.#request.role === 'planner' ? { onPlan: (draft, signal) => this.#take(draft, signal) } : {};
  }

  isDone(): boolean {
    return this.#isMade;
  }

  async #take(draft: PlanDraft, signal: AbortSignal): Promise<PlanAnswer> {
    const { plan, report, workflow } = this.#request;
    const isMove = draft.subtasks.length > 0;
    if (isMove) report({ kind: 'moved', to: workflow.settings.tracker.states.blocked });
    try {
      const answer = await plan(draft, signal);
      this.#isMade = 'made' in answer;
      if (isMove && !this.#isMade) report({ kind: 'not_moved' });
      return answer;
    } catch (error) {
      if (isMove) report({ kind: 'not_moved' });
      throw error;
    }
  }
}

export const planReminder =
  'You have not made a plan. Call `create_subtasks` now, with no subtasks if one change is enough; nothing else counts.';
