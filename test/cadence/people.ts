import type { Day } from './day.ts';
import { minute } from './day.ts';
import type { Work } from './working-agent.ts';

/** Twenty tickets, of which every other one is moved to Done by its run, and the others by a person. */
export const ticketsADay = 20;

const runMs = 9 * minute;

/** Who moves a ticket when it is done: its run, or a person. */
function isMovedByRun(identifier: string): boolean {
  return Number(identifier.split('-')[1]) % 2 === 0;
}

/** What the agent does with such a ticket; one that is left to a person goes on until that person comes. */
export function usualWork(identifier: string): Work {
  return isMovedByRun(identifier) ? { turnMs: runMs, movesTo: 'Done' } : { turnMs: 60 * minute, movesTo: null };
}

/** People file a ticket every so often from now on, and close those that their run does not. */
export function fileTickets({ clock, linear }: Day, afterMs: number, everyMs: number, count = ticketsADay): void {
  for (let nth = 0; nth < count; nth += 1) {
    clock.schedule(afterMs + nth * everyMs, () => {
      const { identifier } = linear.addIssue();
      if (!isMovedByRun(identifier)) {
        clock.schedule(runMs + minute, () => void linear.updateIssue(identifier, { state: 'Done' }));
      }
    });
  }
}

/** A person works beside Baton for so long: the file of activity is touched every five minutes. */
export function beAtWork(day: Day, forMs: number): void {
  for (let at = 0; at <= forMs; at += 5 * minute) day.clock.schedule(at, day.touch);
}

/** The tickets that are not over yet. */
export function openTickets({ linear }: Day): readonly string[] {
  return [...linear.records.issues.values()]
    .map(({ identifier }) => identifier)
    .filter((identifier) => linear.stateOf(identifier) !== 'Done');
}
