import { type Issue, normalizeLabels } from '../issue/issue.ts';
import { isPipelineLabel } from '../pipeline/phase-labels.ts';
import type { PlannerSettings } from '../settings.ts';

/*
 * The planner splits an issue into children. What must hold:
 *
 * - An issue is planned once. Its plan is stored before anything is made in the tracker, with the ids of its children, so
 *   that a plan which was written half is finished and nothing is made twice.
 * - A plan has at most `planner.max_children` children, and plans are at most `planner.max_depth` deep. So a labelled issue
 *   leads to a bounded number of issues, whatever agents do.
 * - No child waits for itself, also not through others. The parent waits for all of them.
 *
 * | the plan of an issue | its next run is |
 * |---|---|
 * | none, with the label and room in depth | a planner's |
 * | stored, but not made in the tracker yet | none: first the plan is finished |
 * | without children: it is small enough | an ordinary one |
 * | made | a worker's, once all children are over |
 */

/** A part of an issue, as the planner wants it. */
export interface Subtask {
  readonly title: string;
  readonly description: string;
  readonly acceptance: readonly string[];
  /** Null: that of the parent. */
  readonly priority: number | null;
  /** The places of the subtasks that it waits for; the first is 1. */
  readonly blockedBy: readonly number[];
  /** It is to be split itself. */
  readonly needsPlanning: boolean;
}

/** What a planner says about its issue; without subtasks the issue is small enough. */
export interface PlanDraft {
  readonly summary: string;
  readonly subtasks: readonly Subtask[];
}

export interface PlannedChild {
  /** Its id in the tracker, drawn before it is made there. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly priority: number | null;
  readonly labels: readonly string[];
  /** The ids of the children that it waits for; they come before it in the plan. */
  readonly blockedBy: readonly string[];
  /** Known once it is made. */
  readonly identifier: string | null;
}

export interface Plan {
  readonly runId: string;
  readonly summary: string;
  readonly at: number;
  /** 1 for a plan of an issue that is not itself part of a plan. */
  readonly depth: number;
  /** When all of it was in the tracker; null: not yet. */
  readonly madeAt: number | null;
  readonly children: readonly PlannedChild[];
}

/** What the store knows about the plans of an issue. */
export interface PlanFacts {
  readonly plan: Plan | null;
  /** The plan that it is a child of. */
  readonly partOf: { readonly parentId: string; readonly depth: number; readonly isMade: boolean } | null;
}

/** What the next run of an issue is for, as far as its plan says; null: an ordinary one. */
export type PlanWork = 'planner' | 'parent' | null;

export function planWork(
  { labels }: Pick<Issue, 'labels'>,
  { plan, partOf }: PlanFacts,
  planner: PlannerSettings,
): PlanWork {
  if (plan !== null) return plan.children.length === 0 ? null : plan.madeAt === null ? 'planner' : 'parent';
  if (!planner.enabled || (partOf?.depth ?? 0) >= planner.maxDepth) return null;
  return labels.includes(labelOf(planner)) ? 'planner' : null;
}

function labelOf({ label }: PlannerSettings): string {
  return normalizeLabels([label])[0] ?? '';
}

export type PlanProblem =
  | { readonly code: 'too_many'; readonly allowed: number }
  | { readonly code: 'too_few' }
  | { readonly code: 'too_deep'; readonly allowed: number }
  | { readonly code: 'same_title'; readonly subtask: number }
  | { readonly code: 'unknown_blocker'; readonly subtask: number; readonly blocker: number }
  | { readonly code: 'cycle'; readonly subtasks: readonly number[] };

/** What is wrong with a draft; nothing: it becomes the plan. `depth` is that of the plan. */
export function planProblems(
  { subtasks }: PlanDraft,
  depth: number,
  { maxChildren, maxDepth }: Pick<PlannerSettings, 'maxChildren' | 'maxDepth'>,
): readonly PlanProblem[] {
  if (subtasks.length === 0) return [];
  if (depth > maxDepth) return [{ code: 'too_deep', allowed: maxDepth }];
  if (subtasks.length === 1) return [{ code: 'too_few' }];
  if (subtasks.length > maxChildren) return [{ code: 'too_many', allowed: maxChildren }];
  const titles = subtasks.map(({ title }) => title.trim().toLowerCase());
  const repeated = titles.flatMap((title, index): PlanProblem[] =>
    titles.indexOf(title) < index ? [{ code: 'same_title', subtask: index + 1 }] : [],
  );
  const unknown = subtasks.flatMap(({ blockedBy }, index) =>
    blockedBy
      .filter((blocker) => subtasks[blocker - 1] === undefined)
      .map((blocker): PlanProblem => ({ code: 'unknown_blocker', subtask: index + 1, blocker })),
  );
  const rest = waitingForEver(subtasks);
  return [...repeated, ...unknown, ...(rest.length === 0 ? [] : [{ code: 'cycle' as const, subtasks: rest }])];
}

/** For the agent that has to fix it. */
export function planProblemText(problem: PlanProblem): string {
  switch (problem.code) {
    case 'too_many':
      return `At most ${problem.allowed} subtasks are allowed (planner.max_children).`;
    case 'too_few':
      return 'A split needs at least two subtasks. Name none if the issue is small enough.';
    case 'too_deep':
      return `This issue may not be split further (planner.max_depth is ${problem.allowed}). Call create_subtasks with no subtasks.`;
    case 'same_title':
      return `Subtask ${problem.subtask} has the title of an earlier one.`;
    case 'unknown_blocker':
      return `Subtask ${problem.subtask} waits for ${problem.blocker}, which is not the number of a subtask; the first is 1.`;
    case 'cycle':
      return `These subtasks wait for each other: ${problem.subtasks.join(', ')}.`;
  }
}

/** The places of those that could never start. */
function waitingForEver(subtasks: readonly Subtask[]): readonly number[] {
  const done = new Set(inWorkOrder(subtasks));
  return subtasks.flatMap((_, index) => (done.has(index) ? [] : [index + 1]));
}

/** The indexes so that each comes after those that it waits for, otherwise in the given order; without those in a cycle. */
function inWorkOrder(subtasks: readonly Subtask[]): readonly number[] {
  const order: number[] = [];
  const isFree = ({ blockedBy }: Subtask): boolean =>
    blockedBy.every((blocker) => subtasks[blocker - 1] === undefined || order.includes(blocker - 1));
  for (let found = true; found; ) {
    const next = subtasks.findIndex((subtask, index) => !order.includes(index) && isFree(subtask));
    found = next >= 0;
    if (found) order.push(next);
  }
  return order;
}

/** The children of a draft without problems: in the order of their work, each with an id of `ids`, as many as subtasks. */
export function plannedChildren(
  { subtasks }: PlanDraft,
  parent: Pick<Issue, 'identifier' | 'priority' | 'labels'>,
  {
    ids,
    depth,
    planner,
  }: { readonly ids: readonly string[]; readonly depth: number; readonly planner: PlannerSettings },
): readonly PlannedChild[] {
  const idOf = (index: number): string => ids[index] ?? '';
  const label = labelOf(planner);
  const inherited = parent.labels.filter((each) => each !== label && !isPipelineLabel(each));
  return inWorkOrder(subtasks).flatMap((index) => {
    const subtask = subtasks[index];
    if (subtask === undefined) return [];
    const isSplit = subtask.needsPlanning && depth < planner.maxDepth;
    return [
      {
        id: idOf(index),
        title: subtask.title.trim(),
        description: childDescription(subtask, parent.identifier),
        priority: subtask.priority ?? parent.priority,
        labels: isSplit ? [...inherited, label] : inherited,
        blockedBy: [...new Set(subtask.blockedBy)].map((blocker) => idOf(blocker - 1)),
        identifier: null,
      },
    ];
  });
}

function childDescription({ description, acceptance }: Subtask, parent: string): string {
  const criteria =
    acceptance.length === 0 ? [] : ['## Acceptance criteria', acceptance.map((each) => `- ${each}`).join('\n')];
  return [description.trim(), ...criteria, `Part of ${parent}.`].filter((part) => part !== '').join('\n\n');
}
