import { type Issue, normalizeState } from '../issue/issue.ts';
import { isJudge, type Role } from '../run/role.ts';
import type { AgentSettings, JudgeSettings, Settings } from '../settings.ts';
import type { SkipReason } from './eligibility.ts';

export interface SlotLimits {
  readonly agent: Pick<AgentSettings, 'maxConcurrentAgents' | 'maxConcurrentAgentsByState'>;
  readonly judge: Pick<JudgeSettings, 'extraSlotsPercent'>;
}

/** A place that a run takes, or that an agent which may be alive keeps: in the state of its issue, for its role. */
export interface Slot {
  readonly state: string;
  readonly role: Role;
}

/** Whether one more run may start in addition to those that took these slots (seed 2, Concurrency Control). */
export function whyNoSlot(
  wanted: Slot,
  taken: readonly Slot[],
  limits: SlotLimits,
  areWorkersWaiting?: () => boolean,
): SkipReason | null {
  const slots = countSlots(taken, limits);
  return slots.whyNone(wanted.role, areWorkersWaiting) ?? slots.whyNoneIn(wanted.state);
}

/** How many judges may run in addition to the limit (seed 4, Judge Slot Allocation). */
export function slotsForJudges(limit: number, percent: number): number {
  return percent <= 0 ? 0 : Math.max(1, Math.floor((limit * percent) / 100));
}

/** How many agents run and may run, as people see it. */
export interface SlotView {
  /** With judges. */
  readonly used: number;
  readonly limit: number;
  /** Of those that run, and the slots for them alone, beyond the limit. Absent where the file has no judge. */
  readonly judges?: { readonly used: number; readonly limit: number } | undefined;
}

export function slotView(
  running: readonly { readonly role: Role }[],
  settings: Pick<Settings, 'agent' | 'judge'>,
): SlotView {
  const { agent, judge } = settings;
  const limit = agent.maxConcurrentAgents;
  const used = running.filter(({ role }) => isJudge(role)).length;
  const judges = { used, limit: slotsForJudges(limit, judge.extraSlotsPercent) };
  return { used: running.length, limit, ...(judge.agents.length === 0 && used === 0 ? {} : { judges }) };
}

/** For example `7 of 10 + 2 judges`. */
export function slotsText({ used, limit, judges }: SlotView): string {
  const extra = judges?.limit ?? 0;
  return `${used} of ${limit}${extra === 0 ? '' : ` + ${extra} ${extra === 1 ? 'judge' : 'judges'}`}`;
}

/** How many slots of the limit are free, whatever judges have beyond it. */
export function freeSlots({ used, limit, judges }: SlotView): number {
  return Math.max(0, limit - used + Math.min(judges?.used ?? 0, judges?.limit ?? 0));
}

/**
 * The slots of one project, counted once; each start leaves one fewer for the issues after it. Judges take the extra slots
 * first, so that they never wait behind workers; workers never exceed the limit, and all together never exceed the limit and
 * the extra slots. Where workers wait and the limit is at least two, others leave one slot to them.
 */
export interface SlotCount {
  /** `areWorkersWaiting` is only asked by others than workers. */
  whyNone(role: Role, areWorkersWaiting?: () => boolean): SkipReason | null;
  whyNoneIn(state: string): SkipReason | null;
  take(slot: Slot): void;
  describe(): string;
  describeIn(state: string): string;
}

/** The count and limit of one state, however its name is written. */
interface StateCount {
  taken: number;
  readonly limit: number | null;
}

export function countSlots(runningSlots: readonly Slot[], { agent, judge }: SlotLimits): SlotCount {
  const limit = agent.maxConcurrentAgents;
  const extra = slotsForJudges(limit, judge.extraSlotsPercent);
  const byKey = new Map<string, StateCount>();
  const byName = new Map<string, StateCount>();
  const taken = { workers: 0, judges: 0, others: 0 };

  const countOf = (name: string): StateCount => {
    const known = byName.get(name);
    if (known !== undefined) return known;
    const key = normalizeState(name);
    const count = byKey.get(key) ?? { taken: 0, limit: limitOf(key, agent) };
    byKey.set(key, count);
    byName.set(name, count);
    return count;
  };
  const take = ({ state, role }: Slot): void => {
    if (isJudge(role)) taken.judges += 1;
    else if (role === 'worker') taken.workers += 1;
    else taken.others += 1;
    countOf(state).taken += 1;
  };
  /** Of the limit, by others than workers. */
  const others = (): number => taken.others + Math.max(0, taken.judges - extra);
  /** Of the limit, without the extra slots. */
  const ofLimit = (): number => taken.workers + others();

  for (const slot of runningSlots) take(slot);
  return {
    whyNone: (role, areWorkersWaiting = () => false) => {
      // Workers may exceed a limit that was lowered; then nothing starts, not even in an extra slot.
      if (isJudge(role) && taken.judges < extra && ofLimit() <= limit) return null;
      if (ofLimit() >= limit) return { code: 'project_full', text: `all slots are taken (${ofLimit()} of ${limit})` };
      if (role === 'worker' || limit < 2 || others() + 1 < limit || !areWorkersWaiting()) return null;
      return { code: 'project_full', text: `the last of ${limit} slots is kept for workers` };
    },
    whyNoneIn: (state) => {
      const count = countOf(state);
      if (count.limit === null || count.taken < count.limit) return null;
      return {
        code: 'state_full',
        text: `all slots in state "${state}" are taken (${count.taken} of ${count.limit})`,
      };
    },
    take,
    describe: () => share(ofLimit(), limit, 'slots'),
    describeIn: (state) => {
      const count = countOf(state);
      if (count.limit === null) return `issues in state "${state}" have no slot limit of their own`;
      return share(count.taken, count.limit, `slots in state "${state}"`);
    },
  };
}

/** A state may be called `constructor`: only own keys of the settings count. */
function limitOf(key: string, { maxConcurrentAgentsByState: limits }: SlotLimits['agent']): number | null {
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
