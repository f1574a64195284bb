import type { IssueSummary } from '../../../client/schema/issue.ts';
import type { Project } from '../../../client/schema/system.ts';
import type { ReadModel } from '../../../orchestrator/view/read-model.ts';

type StateKind = Project['states'][number]['kind'];

/** The useful commands for a held issue, by the code of the hold; the best one first. */
const holdActions: Readonly<Record<string, readonly string[]>> = {
  person: ['issue_release', 'issue_retry', 'issue_takeover'],
  held_by_agent: ['issue_release', 'issue_retry', 'issue_takeover'],
  agent_input_required: ['question_answer', 'issue_retry', 'issue_takeover'],
  taken_over: ['issue_handback'],
  agent_survives: ['issue_release'],
};

const otherHolds = ['issue_retry', 'issue_release', 'issue_takeover'];

const byActivity: Readonly<Record<Exclude<NonNullable<IssueSummary['activity']>, 'held'>, readonly string[]>> = {
  asking: ['question_answer', 'issue_steer', 'issue_takeover', 'issue_stop', 'issue_hold'],
  running: ['issue_steer', 'issue_stop', 'issue_takeover', 'issue_hold'],
  retrying: ['issue_retry', 'issue_hold', 'issue_takeover'],
};

/** Baton works only on issues in an active state, so only those can be taken over. */
const whileIdle: Readonly<Record<StateKind, readonly string[]>> = {
  active: ['issue_hold', 'issue_takeover'],
  terminal: [],
  other: ['issue_hold'],
};

const onBoard = ['issue_move', 'issue_comment', 'issue_edit'];

/** The commands that are useful for an issue in its current state; the orchestrator may still refuse them. */
export function actionsOf(
  { id, activity }: Pick<IssueSummary, 'id' | 'activity'>,
  { held, running }: Pick<ReadModel, 'held' | 'running'>,
  { hasBoard, stateKind }: { readonly hasBoard: boolean; readonly stateKind: StateKind },
): string[] {
  const own = hasBoard ? onBoard : [];
  if (activity === null) return [...whileIdle[stateKind], ...own];
  if (activity !== 'held') {
    const run = running.find(({ issue }) => issue.id === id);
    const usual = byActivity[activity].filter((action) => run?.canHear !== false || action !== 'issue_steer');
    const isToHold = run?.holdAfterwards != null;
    return [...usual.map((action) => (isToHold && action === 'issue_hold' ? 'issue_release' : action)), ...own];
  }
  return [...actionsOfHold(held.find(({ issue }) => issue.id === id)?.code ?? ''), ...own];
}

/** The useful commands for a hold, by its code. */
export function actionsOfHold(code: string): readonly string[] {
  return Object.hasOwn(holdActions, code) ? (holdActions[code] ?? []) : otherHolds;
}
