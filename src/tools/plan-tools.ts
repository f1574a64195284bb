import * as z from 'zod';
import { BatonError } from '../core/baton-error.ts';
import { planProblemText } from '../core/planner/plan.ts';
import { text } from './judge-tools.ts';
import { defineTool } from './tool.ts';

const subtask = z.strictObject({
  title: text(200),
  description: text(8_000),
  acceptance_criteria: z.array(text(500)).max(20).default([]).describe('What must be true when it is done.'),
  blocked_by: z
    .array(z.int().min(1).max(50))
    .max(50)
    .default([])
    .describe('The numbers of the subtasks that must be done before it; the first in this list is 1.'),
  priority: z
    .int()
    .min(1)
    .max(4)
    .nullable()
    .default(null)
    .describe('1 is the most urgent; null: the priority of the issue.'),
  needs_planning: z.boolean().default(false).describe('It is still too large, so it must be split itself.'),
});

/** A planner splits its issue, or says that it is small enough. */
export const createSubtasks = defineTool({
  name: 'create_subtasks',
  description:
    'Split the issue into subtasks, in the order of the work. Say for each what must be true when it is done, and which ' +
    'subtasks it waits for. The issue then waits for all of them. If one change is enough, give an empty list. If the call ' +
    'is refused, fix the problems that it names and call it again. End your turn afterwards.',
  changesTracker: true,
  input: z.strictObject({ summary: text(4_000), subtasks: z.array(subtask).max(50) }),
  run: async ({ summary, subtasks }, { onPlan }, { signal }) => {
    const drafts = subtasks.map(({ acceptance_criteria: acceptance, blocked_by, needs_planning, ...rest }) => ({
      ...rest,
      acceptance,
      blockedBy: blocked_by,
      needsPlanning: needs_planning,
    }));
    const answer = (await onPlan?.({ summary, subtasks: drafts }, signal)) ?? { problems: [] };
    if ('problems' in answer)
      throw new BatonError('plan_invalid', answer.problems.map(planProblemText).join(' '), {
        details: { problems: answer.problems },
      });
    if (answer.made.length === 0) return 'Noted: the issue is not split. End your turn now.';
    return `The issue was split into ${answer.made.join(', ')}, and waits for them. End your turn now.`;
  },
});
