import type { SkipReason } from '../../core/dispatch/eligibility.ts';
import { slotsForJudges } from '../../core/dispatch/slots.ts';
import { isJudge, type Role } from '../../core/run/role.ts';

/**
 * The slots that several projects of one daemon share. In memory and without a clock: after a restart no run exists. An
 * agent that could not be ended takes a slot of its project, not one of these.
 *
 * What must hold: no start is allowed beyond the limit. While slots are short, a free one goes to the waiting member
 * that holds the fewest, and among equals to the one that has waited longest since it last got one. So with endless
 * demand members end within one slot of each other, and none starves. A member that does not wait blocks no other.
 * Lowering the limit ends no run; each member finds a raised limit at its next tick.
 */
export interface SlotPool {
  join(project: PoolProject): PoolMember;
}

export interface PoolProject {
  /**
   * A slot may be free for this project. Called in the middle of another project's step: it only notes the call, and
   * never throws.
   */
  readonly wake: () => void;
}

export interface PoolMember {
  /**
   * Why it may not start a run now; null means it may. The answer holds until the next await: check, then take.
   * `extraPercent`: how many judges may exceed the limit, as `judge.extra_slots_percent` of the project says.
   */
  mayStart(role?: Role, extraPercent?: number): SkipReason | null;
  /** Takes a slot for a run. It counts even if `mayStart` refused, because the run exists. */
  take(role?: Role): void;
  free(role?: Role): void;
  /**
   * Returns a slot that could not be used. It wakes the other members but not this one, which would only try the same
   * again.
   */
  giveBack(role?: Role): void;
  /**
   * True: it wanted a slot and `mayStart` refused. False: nothing of it waits for a slot, or it cannot use one now
   * (paused, its tracker does not answer). Called once at the end of a tick; while it is true, a slot may stay free for
   * this member.
   */
  setWaiting(isWaiting: boolean): void;
  /** The project leaves and its slots are free. Later calls have no effect. */
  leave(): void;
  readonly held: number;
}

/** `limit` is called each time, because the user may edit it while the daemon runs. */
export function createSlotPool(limit: () => number): SlotPool {
  const places = new Set<Place>();
  /** A logical clock: larger is later. */
  let sequence = 0;

  const used = (): number => [...places].reduce((sum, { held }) => sum + held, 0);
  const judging = (): number => [...places].reduce((sum, { judges }) => sum + judges, 0);
  /** Of the limit, without the extra slots of judges. */
  const usedOfLimit = (extra: number): number => {
    return used() - Math.min(judging(), extra);
  };

  /** The next in line first. */
  const waiting = (): Place[] =>
    [...places]
      .filter(({ waitingSince }) => waitingSince !== null)
      .sort((left, right) => (isBefore(left, right) ? -1 : 1));

  /** Wakes the members that have a free slot. It reads the queue first, because a woken member may change it. */
  const wakeNext = (except?: Place): void => {
    // Judges may be in extra slots, and those of a project say how many there are: one too many is woken for nothing.
    const free = limit() - used() + judging();
    if (!(free > 0)) return;
    const next = waiting().filter((place) => place !== except);
    for (const place of next.slice(0, free)) place.project.wake();
  };

  const whyNot = (place: Place, role: Role, extraPercent: number): SkipReason | null => {
    const allowed = limit();
    const extra = slotsForJudges(allowed, extraPercent);
    const taken = usedOfLimit(extra);
    // Runs may exceed a limit that was lowered; then nothing starts, not even in an extra slot.
    if (isJudge(role) && judging() < extra && taken <= allowed) return null;
    if (!(taken < allowed)) return { code: 'global_full', text: `all shared slots are taken (${taken} of ${allowed})` };
    const needier = waiting().filter((other) => other !== place && isBefore(other, place));
    return needier.length < allowed - taken
      ? null
      : { code: 'global_full', text: 'another project gets the next free slot' };
  };

  const join = (project: PoolProject): PoolMember => {
    const place: Place = { project, held: 0, judges: 0, waitingSince: null };
    places.add(place);
    return {
      mayStart: (role = 'worker', extraPercent = 0) =>
        places.has(place)
          ? whyNot(place, role, extraPercent)
          : { code: 'global_full', text: 'this project is stopping' },
      take: (role = 'worker') => {
        if (!places.has(place)) return;
        place.held += 1;
        if (isJudge(role)) place.judges += 1;
        sequence += 1;
        // A member that got a slot moves to the end of the queue.
        if (place.waitingSince !== null) place.waitingSince = sequence;
      },
      free: (role = 'worker') => {
        if (!drop(place, role)) return;
        wakeNext();
      },
      giveBack: (role = 'worker') => {
        if (!drop(place, role)) return;
        wakeNext(place);
      },
      setWaiting: (isWaiting) => {
        if (!places.has(place) || isWaiting === (place.waitingSince !== null)) return;
        sequence += 1;
        place.waitingSince = isWaiting ? sequence : null;
        // The slot that was reserved for this member goes to the next one.
        if (!isWaiting) wakeNext();
      },
      leave: () => {
        if (!places.delete(place)) return;
        place.held = 0;
        place.judges = 0;
        place.waitingSince = null;
        wakeNext();
      },
      get held() {
        return place.held;
      },
    };
  };

  return { join };
}

interface Place {
  readonly project: PoolProject;
  held: number;
  /** How many of those are judges. */
  judges: number;
  /** Null: it does not wait. */
  waitingSince: number | null;
}

/** False when there was none. */
function drop(place: Place, role: Role): boolean {
  if (place.held === 0) return false;
  place.held -= 1;
  if (isJudge(role)) place.judges = Math.max(0, place.judges - 1);
  return true;
}

/** Whether `left` should get a slot before `right`. A member that does not wait comes after those that do. */
function isBefore(left: Place, right: Place): boolean {
  if (left.held !== right.held) return left.held < right.held;
  return (left.waitingSince ?? Number.POSITIVE_INFINITY) < (right.waitingSince ?? Number.POSITIVE_INFINITY);
}
