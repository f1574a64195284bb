import { BatonError } from '../core/baton-error.ts';
import type { Tracker, TrackerChanges } from '../tracker/tracker.ts';

/** The tracker's changes, or the error that says that there are none. */
export function changesOf(tracker: Tracker): TrackerChanges {
  if (tracker.changes !== null) return tracker.changes;
  throw new BatonError('tracker_read_only', `Baton cannot change anything in a tracker of kind "${tracker.kind}".`);
}
