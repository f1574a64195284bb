import type { IssueSummary } from '../../../client/schema/issue.ts';
import type { Project } from '../../../client/schema/system.ts';
import type { ReadModel } from '../../../orchestrator/view/read-model.ts';

type StateKind = Project['states'][number]['kind'];

/** The commands that make sense for an issue that is held, by what it is held for; the best one first. */
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

/** Only what is in an active state would be worked on, and only that can be taken over. */
const whileIdle: Readonly<Record<StateKind, readonly string[]>> = {
  active: ['issue_hold', 'issue_takeover'],
  terminal: [],
  other: ['issue_hold'],
};

const onBoard = ['issue_move', 'issue_comment', 'issue_edit'];

/** What a person may sensibly ask for an issue as it stands; the orchestrator has the last word all the same. */
export function actionsOf(
  { id, activity }: Pick<IssueSummary, 'id' | 'activity'>,
  { held, running }: Pick<ReadModel, 'held' | 'running'>,
  { hasBoard, stateKind }: { readonly hasBoard: boolean; readonly stateKind: StateKind },
): string[] {
  const own = hasBoard ? onBoard : [];
  if (activity === null) return [...whileIdle[stateKind], ...own];
  const canHear = running.find(({ issue }) => issue.id === id)?.canHear !== false;
  if (activity !== 'held')
    return [...byActivity[activity].filter((action) => canHear || action !== 'issue_steer'), ...own];
  return [...actionsOfHold(held.find(({ issue }) => issue.id === id)?.code ?? ''), ...own];
}

/** What a person may sensibly do about a hold, by what it is for. */
export function actionsOfHold(code: string): readonly string[] {
  return Object.hasOwn(holdActions, code) ? (holdActions[code] ?? []) : otherHolds;
}
