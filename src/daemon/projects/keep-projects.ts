import { type Clock, sleep } from '../../clock/clock.ts';
import { type BatonError, toBatonError } from '../../core/baton-error.ts';
import type { DaemonEnd } from '../run-daemon.ts';
import type { SharedSignals } from './shared-signals.ts';

/** How long a project that could not start waits before it is tried again. */
const tryAgainMs = 10_000;
/** More different errors than a person reads; who has more is told again. */
const mostRemembered = 100;

/** One project as it is kept: what starts it, and who hears that it could not be started. */
export interface KeptProject {
  readonly workflow: string;
  /** Works until the project has ended; rejects when it could not be started. `onStarted` is called once it works. */
  run(onStarted: () => void): Promise<DaemonEnd>;
  /** It could not be started, or its end went wrong: each different error once. */
  tellFailure(error: BatonError, when: 'start' | 'end'): void;
}

export interface ProjectsEnd {
  /** At once, when any of them was ended so. */
  readonly how: DaemonEnd;
  /** Whether any of them ever worked. */
  readonly hasWorked: boolean;
  /** Those that were not working at the end because they could not be started, with their last error. */
  readonly broken: readonly { readonly workflow: string; readonly error: BatonError }[];
}

/**
 * Keeps several projects going, each by itself: one that cannot be started is tried again every ten seconds, one attempt
 * at a time, until it works or Baton stops; one that has worked and ended is over. Resolves when nothing is left: after
 * a stop, or when none works any more. Those that still wait to be mended do not keep Baton alone.
 */
export async function keepProjects(
  projects: readonly KeptProject[],
  { clock, signals }: { readonly clock: Clock; readonly signals: SharedSignals },
): Promise<ProjectsEnd> {
  const seats = projects.map((project) => ({
    project,
    state: 'first_try' as SeatState,
    error: null as BatonError | null,
  }));
  let how: DaemonEnd = 'in_order';
  let hasWorked = false;

  const enter = (seat: (typeof seats)[number], state: SeatState): void => {
    seat.state = state;
    if (!seats.some((each) => each.state === 'first_try' || each.state === 'working')) signals.stop();
  };

  const keep = async (seat: (typeof seats)[number]): Promise<void> => {
    const told = new Set<string>();
    const onStarted = (): void => {
      hasWorked = true;
      seat.error = null;
      enter(seat, 'working');
    };
    const { stopping } = signals;
    while (!stopping.aborted) {
      try {
        if ((await seat.project.run(onStarted)) === 'at_once') how = 'at_once';
        return enter(seat, 'ended');
      } catch (thrown) {
        const error = toBatonError(thrown);
        const when = seat.state === 'working' ? 'end' : 'start';
        if (isNew(error, told)) seat.project.tellFailure(error, when);
        // What has worked is not begun anew because its end went wrong.
        if (when === 'end') return enter(seat, 'ended');
        seat.error = error;
        enter(seat, 'waiting');
      }
      await sleep(clock, tryAgainMs, stopping).catch(() => {
        // Baton stops; there is no other reason.
      });
    }
  };

  await Promise.all(seats.map(keep));
  const broken = seats.flatMap(({ project: { workflow }, error }) => (error === null ? [] : [{ workflow, error }]));
  return { how, hasWorked, broken };
}

/** `first_try` to `working` or `waiting`; `waiting` to `working`; `working` to `ended`. Nothing survives the process. */
type SeatState = 'first_try' | 'waiting' | 'working' | 'ended';

function isNew({ code, message }: BatonError, told: Set<string>): boolean {
  const key = `${code} ${message}`;
  if (told.has(key)) return false;
  if (told.size >= mostRemembered) told.clear();
  told.add(key);
  return true;
}
