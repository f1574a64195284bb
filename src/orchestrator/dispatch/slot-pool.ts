import type { SkipReason } from '../../core/dispatch/eligibility.ts';

/**
 * The slots that several projects of one daemon share. In memory and without a clock: whoever restarts has no runs.
 * An agent that could not be ended takes a slot of its project, not one of these.
 *
 * What must hold: no start is allowed beyond the limit; while slots are short, a free one is for the waiting member that
 * holds the fewest, and among equals for the one that has waited longest since it last got one; so with endless demand
 * members end within one slot of each other, and nobody starves. A member that does not wait keeps nothing from anybody.
 * A limit that is lowered ends no run; one that is raised is found by each member at its next tick.
 */
export interface SlotPool {
  join(project: PoolProject): PoolMember;
}

export interface PoolProject {
  /** There may be a slot for it now. It is told in the middle of another project's step: it only notes it, and never throws. */
  readonly wake: () => void;
}

export interface PoolMember {
  /** Why it may not start a run now; null means it may. It holds until the next await: look, then take. */
  mayStart(): SkipReason | null;
  /** Takes a slot for a run. It counts whatever `mayStart` said: a run that is there is there. */
  take(): void;
  free(): void;
  /** Gives one back that could not be used: the others are told, not this one, which would only try the same again. */
  giveBack(): void;
  /**
   * True: it wanted a slot and `mayStart` refused. False: it has nothing left that waits for one, or cannot use one now
   * (paused, its tracker does not answer). Said once at the end of a tick; as long as it is true, a slot may stay free
   * for this member.
   */
  setWaiting(isWaiting: boolean): void;
  /** The project goes; whatever it held is free. Nothing it says later counts. */
  leave(): void;
  readonly held: number;
}

/** `limit` is asked each time, as it may be edited while the daemon runs. */
export function createSlotPool(limit: () => number): SlotPool {
  const places = new Set<Place>();
  /** Stands for time: larger is later. */
  let moment = 0;

  const used = (): number => [...places].reduce((sum, { held }) => sum + held, 0);

  /** The next in line first. */
  const waiting = (): Place[] =>
    [...places]
      .filter(({ waitingSince }) => waitingSince !== null)
      .sort((left, right) => (isBefore(left, right) ? -1 : 1));

  /** Tells those for whom there is a free slot. The line is read first, as who is told may change it. */
  const wakeNext = (except?: Place): void => {
    const free = limit() - used();
    if (!(free > 0)) return;
    const next = waiting().filter((place) => place !== except);
    for (const place of next.slice(0, free)) place.project.wake();
  };

  const whyNot = (place: Place): SkipReason | null => {
    const allowed = limit();
    const taken = used();
    if (!(taken < allowed)) return { code: 'no_slot_in_baton', text: `no slot in this Baton (${taken} of ${allowed})` };
    const needier = waiting().filter((other) => other !== place && isBefore(other, place));
    return needier.length < allowed - taken
      ? null
      : { code: 'no_slot_in_baton', text: 'another project waits for this slot' };
  };

  const join = (project: PoolProject): PoolMember => {
    const place: Place = { project, held: 0, waitingSince: null };
    places.add(place);
    return {
      mayStart: () =>
        places.has(place) ? whyNot(place) : { code: 'no_slot_in_baton', text: 'this project is being ended' },
      take: () => {
        if (!places.has(place)) return;
        place.held += 1;
        moment += 1;
        // Whoever got one goes to the end of the line.
        if (place.waitingSince !== null) place.waitingSince = moment;
      },
      free: () => {
        if (place.held === 0) return;
        place.held -= 1;
        wakeNext();
      },
      giveBack: () => {
        if (place.held === 0) return;
        place.held -= 1;
        wakeNext(place);
      },
      setWaiting: (isWaiting) => {
        if (!places.has(place) || isWaiting === (place.waitingSince !== null)) return;
        moment += 1;
        place.waitingSince = isWaiting ? moment : null;
        // What was kept for it is for the next.
        if (!isWaiting) wakeNext();
      },
      leave: () => {
        if (!places.delete(place)) return;
        place.held = 0;
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
  /** Null: it does not wait. */
  waitingSince: number | null;
}

/** Whether a slot is rather for `left`. Who does not wait yet comes after those who do. */
function isBefore(left: Place, right: Place): boolean {
  if (left.held !== right.held) return left.held < right.held;
  return (left.waitingSince ?? Number.POSITIVE_INFINITY) < (right.waitingSince ?? Number.POSITIVE_INFINITY);
}
