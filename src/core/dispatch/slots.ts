import { type Issue, normalizeState } from '../issue/issue.ts';
import type { AgentSettings } from '../settings.ts';
import type { SkipReason } from './eligibility.ts';

type SlotSettings = Pick<AgentSettings, 'maxConcurrentAgents' | 'maxConcurrentAgentsByState'>;

/** Whether one more issue in `state` may run in addition to those in `runningStates` (seed 2, Concurrency Control). */
export function whyNoSlot(state: string, runningStates: readonly string[], agent: AgentSettings): SkipReason | null {
  const slots = countSlots(runningStates, agent);
  return slots.whyNone() ?? slots.whyNoneIn(state);
}

/** The slots of one project, counted once; each start leaves one fewer for the issues after it. */
export interface SlotCount {
  whyNone(): SkipReason | null;
  whyNoneIn(state: string): SkipReason | null;
  take(state: string): void;
  describe(): string;
  describeIn(state: string): string;
}

/** The count and limit of one state, however its name is written. */
interface StateCount {
  taken: number;
  readonly limit: number | null;
}

export function countSlots(runningStates: readonly string[], agent: SlotSettings): SlotCount {
  const limit = agent.maxConcurrentAgents;
  const byKey = new Map<string, StateCount>();
  const byName = new Map<string, StateCount>();
  let taken = 0;
  let full: SkipReason | null = null;

  const countOf = (name: string): StateCount => {
    const known = byName.get(name);
    if (known !== undefined) return known;
    const key = normalizeState(name);
    const count = byKey.get(key) ?? { taken: 0, limit: limitOf(key, agent) };
    byKey.set(key, count);
    byName.set(name, count);
    return count;
  };
  const take = (state: string): void => {
    taken += 1;
    countOf(state).taken += 1;
    full = taken < limit ? null : { code: 'no_slot', text: `no free slot (${taken} of ${limit} taken)` };
  };

  if (limit <= 0) full = { code: 'no_slot', text: `no free slot (0 of ${limit} taken)` };
  for (const state of runningStates) take(state);
  return {
    whyNone: () => full,
    whyNoneIn: (state) => {
      const count = countOf(state);
      if (count.limit === null || count.taken < count.limit) return null;
      return {
        code: 'no_slot_in_state',
        text: `no free slot in state "${state}" (${count.taken} of ${count.limit} taken)`,
      };
    },
    take,
    describe: () => share(taken, limit, 'slots'),
    describeIn: (state) => {
      const count = countOf(state);
      if (count.limit === null) return `agents in state "${state}" have no limit of their own`;
      return share(count.taken, count.limit, `slots in state "${state}"`);
    },
  };
}

/** A state may be called `constructor`: only own keys of the settings count. */
function limitOf(key: string, { maxConcurrentAgentsByState: limits }: SlotSettings): number | null {
  return Object.hasOwn(limits, key) ? (limits[key] ?? null) : null;
}

function share(taken: number, limit: number, what: string): string {
  return `${taken} of ${limit} ${what} ${taken === 1 ? 'is' : 'are'} taken`;
}

/** The move that Baton makes itself when it starts work on an issue. */
export interface StartMove {
  readonly from: string;
  readonly to: string;
}

/** The state in which an issue takes its slot: the state that it moves to when it starts. */
export function stateOnceStarted({ state }: Pick<Issue, 'state'>, move: StartMove | undefined): string {
  return move !== undefined && normalizeState(state) === normalizeState(move.from) ? move.to : state;
}
