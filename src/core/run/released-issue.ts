import { stateClass } from '../dispatch/eligibility.ts';
import type { Issue } from '../issue/issue.ts';
import type { TrackerSettings } from '../settings.ts';

/**
 * What became of an issue that Baton worked on and released: `finished` means finished, `waiting` means that it still
 * waits for people, `forgotten` means that it has to be done again (its next run follows it then) or is gone.
 */
export type ReleasedIssue = 'finished' | 'waiting' | 'forgotten';

/** `fresh` is the issue as just read, or null when the tracker does not have it any more. */
export function decideAboutReleased(fresh: Issue | null, tracker: TrackerSettings): ReleasedIssue {
  if (fresh === null) return 'forgotten';
  const found = stateClass(fresh.state, tracker);
  if (found === 'terminal') return 'finished';
  return found === 'other' ? 'waiting' : 'forgotten';
}
