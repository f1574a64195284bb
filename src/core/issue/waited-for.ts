import { stateClass } from '../dispatch/eligibility.ts';
import type { TrackerSettings } from '../settings.ts';
import { harmlessLine } from '../text/harmless-line.ts';
import type { Blocker, Issue } from './issue.ts';

/** How many issues a sentence names. */
const mostNamed = 20;

/**
 * What an issue waited for, in one sentence, if all of it is finished: its blockers and its children, each with its
 * state, so that a cancelled one can be seen. Null while one is open or its state is unknown. Null also without any:
 * such an issue waits for something that Baton does not know, and only a person can say that it is there.
 */
export function whatItWaitedFor(
  { blockedBy }: Pick<Issue, 'blockedBy'>,
  children: readonly Blocker[],
  tracker: TrackerSettings,
): string | null {
  const all = [...blockedBy, ...children];
  if (all.length === 0 || !areFinished(all, tracker)) return null;
  const names = all.slice(0, mostNamed).map(({ identifier, id, state }) => `${identifier ?? id} (${state})`);
  const more = all.length > mostNamed ? [`${all.length - mostNamed} more`] : [];
  return harmlessLine(`everything that it waited for is finished: ${[...names, ...more].join(', ')}`);
}

export function areFinished(links: readonly Blocker[], tracker: TrackerSettings): boolean {
  return links.every(({ state }) => state !== null && stateClass(state, tracker) === 'terminal');
}
