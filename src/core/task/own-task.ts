import { isUndecided } from './proposal.ts';
import type { Task } from './task.ts';

/** What decides about a task that Baton begins by itself, and that a person may ask for too. */
export interface OwnTaskFacts {
  /** Whether the budget of the role allows a run now; `none`: there is no limit on it, so that it must not begin by itself. */
  readonly budget: 'free' | 'used' | 'none';
  /** The latest tasks of the kind, the newest first. */
  readonly tasks: readonly Task[];
}

export type NoOwnTask =
  /** It is not switched on. */
  | 'off'
  /** The budget has no limit. */
  | 'unlimited'
  | 'budget_used'
  /** One waits for its agent or for a person. */
  | 'undecided';

/** Why no such task begins, even if a person asks for it; null: one may. */
export function whyNoOwnTask(
  { enabled }: { readonly enabled: boolean },
  { budget, tasks }: OwnTaskFacts,
): NoOwnTask | null {
  if (!enabled) return 'off';
  if (budget === 'none') return 'unlimited';
  if (tasks.some(isUndecided)) return 'undecided';
  return budget === 'used' ? 'budget_used' : null;
}
