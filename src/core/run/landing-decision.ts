import { stateClass } from '../dispatch/eligibility.ts';
import type { Issue } from '../issue/issue.ts';
import type { TrackerSettings } from '../settings.ts';

/**
 * How it stands with an issue that Baton worked on and gave back: it `landed`, it is `waiting` for people still, or it is
 * `forgotten`, because it is to be done again (its next run follows it then) or gone.
 */
export type Landing = 'landed' | 'waiting' | 'forgotten';

/** `fresh` is the issue as just read, or null when the tracker does not have it any more. */
export function decideAboutLanding(fresh: Issue | null, tracker: TrackerSettings): Landing {
  if (fresh === null) return 'forgotten';
  const found = stateClass(fresh.state, tracker);
  if (found === 'terminal') return 'landed';
  return found === 'other' ? 'waiting' : 'forgotten';
}
