import { stateFor } from '../../core/issue/state-role.ts';
import type { Settings } from '../../core/settings.ts';
import type { TrackerProfile } from '../../core/tracker-profile.ts';
import { errorAt, type Report, warningAt } from '../workflow-problems.ts';

/** The checks of the section `planner` that need several keys, and the tracker. */
export function checkPlanner(settings: Settings, profile: TrackerProfile, report: Report): void {
  const { planner, tracker } = settings;
  if (!planner.enabled) return;
  if (profile.makesChildren !== true) {
    const message = `planner.enabled needs a tracker in which Baton can create the parts of an issue; trackers of the kind ${profile.kind} cannot. Set planner.enabled to false, or use another tracker.kind`;
    report(errorAt('planner.enabled', message, { problem: 'unsupported_tracker' }));
    return;
  }
  for (const role of ['todo', 'blocked', 'review'] as const) {
    if (stateFor(role, tracker).state !== null) continue;
    const message = `planner.enabled needs tracker.states.${role}: an issue that was split moves there`;
    report(errorAt('planner.enabled', message, { problem: 'missing', needs: `tracker.states.${role}` }));
  }
  if (planner.runsPerDay > 0 || planner.usdPerDay > 0) return;
  const message =
    'planner.runs_per_day and planner.usd_per_day are 0, so only the limits of all runs bound the planner';
  report(warningAt('planner.runs_per_day', message, { problem: 'unbounded' }));
}
