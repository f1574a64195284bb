import type { Settings } from '../settings.ts';
import { type OwnTaskFacts, whyNoOwnTask } from '../task/own-task.ts';

/** What decides about a run of the learner. */
export interface LearnFacts extends OwnTaskFacts {
  readonly now: number;
  /** Baton could start an agent: its file has no mistake, and neither a person nor a limit forbids it. */
  readonly isReady: boolean;
  /** How much has happened since the last run of the learner that may teach something. */
  readonly lessons: number;
}

export type NoLearning =
  | NonNullable<ReturnType<typeof whyNoOwnTask>>
  | 'cooldown'
  | 'not_ready'
  /** Fewer lessons than `learner.min_lessons`. */
  | 'too_little';

/** Why no run of the learner begins by itself; null: one is due. */
export function whyNoLearning({ learner }: Pick<Settings, 'learner'>, facts: LearnFacts): NoLearning | null {
  const { now, isReady, lessons, tasks } = facts;
  const refused = whyNoOwnTask(learner, facts);
  if (refused !== null) return refused;
  const [last] = tasks;
  if (last !== undefined && now < last.changedAt + learner.cooldownMs) return 'cooldown';
  if (!isReady) return 'not_ready';
  return lessons < Math.max(1, learner.minLessons) ? 'too_little' : null;
}
