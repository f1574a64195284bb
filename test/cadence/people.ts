import type { Day } from './day.ts';
import { minute } from './day.ts';
import type { Work } from './working-agent.ts';

/** Twenty issues, of which every other one is moved to Done by its run, and the others by a person. */
export const issuesPerDay = 20;

const runMs = 9 * minute;

/** Who moves a finished issue: its run, or a person. */
function isMovedByRun(identifier: string): boolean {
  return Number(identifier.split('-')[1]) % 2 === 0;
}

/** The work of the agent; on an issue that a person closes it works until then. */
export function usualWork(identifier: string): Work {
  return isMovedByRun(identifier) ? { turnMs: runMs, movesTo: 'Done' } : { turnMs: 60 * minute, movesTo: null };
}

/** People file issues at an interval, and close those that their run does not. */
export function fileIssues({ clock, linear }: Day, afterMs: number, everyMs: number, count = issuesPerDay): void {
  for (let nth = 0; nth < count; nth += 1) {
    clock.schedule(afterMs + nth * everyMs, () => {
      const { identifier } = linear.addIssue();
      if (!isMovedByRun(identifier)) {
        clock.schedule(runMs + minute, () => void linear.updateIssue(identifier, { state: 'Done' }));
      }
    });
  }
}

/** A person works for this long: the activity file is touched every five minutes. */
export function beAtWork(day: Day, forMs: number): void {
  for (let at = 0; at <= forMs; at += 5 * minute) day.clock.schedule(at, day.touch);
}

/** The issues that are not finished yet. */
export function openIssues({ linear }: Day): readonly string[] {
  return [...linear.records.issues.values()]
    .map(({ identifier }) => identifier)
    .filter((identifier) => linear.stateOf(identifier) !== 'Done');
}
