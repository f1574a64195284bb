import { type Clock, sleep } from '../../clock/clock.ts';
import { type BatonError, toBatonError } from '../../core/baton-error.ts';
import type { DaemonEnd } from '../run-daemon.ts';
import type { SharedSignals } from './shared-signals.ts';

/** How long a project that could not start waits before the next attempt. */
const tryAgainMs = 10_000;
/** The most different errors to remember, more than a person reads. After that, errors are reported again. */
const mostRemembered = 100;

/** One project of this Baton: how to start it, and how to report that it could not start. */
export interface ProjectToRun {
  readonly workflow: string;
  /** Runs until the project has ended; rejects when it could not start. Calls `onStarted` once it runs. */
  run(onStarted: () => void): Promise<DaemonEnd>;
  /** Reports that the project could not start, or failed while it ended: each different error once. */
  reportFailure(error: BatonError, when: 'start' | 'end'): void;
}

export interface ProjectsEnd {
  /** `at_once` when any project ended that way. */
  readonly how: DaemonEnd;
  /** Whether any project ever ran. */
  readonly hasWorked: boolean;
  /** The projects that could not start until the end, with their last error. */
  readonly broken: readonly { readonly workflow: string; readonly error: BatonError }[];
}

/**
 * Keeps several projects running independently. A project that cannot start is tried again every ten seconds, one
 * attempt at a time, until it runs or Baton stops; one that has run and ended is finished. Resolves when nothing is
 * left: after a stop, or when no project runs any more. Projects that wait to be fixed do not keep Baton alive.
 */
export async function keepProjects(
  projects: readonly ProjectToRun[],
  { clock, signals }: { readonly clock: Clock; readonly signals: SharedSignals },
): Promise<ProjectsEnd> {
  const entries = projects.map((project) => ({
    project,
    state: 'first_try' as ProjectState,
    error: null as BatonError | null,
  }));
  let how: DaemonEnd = 'in_order';
  let hasWorked = false;

  const enter = (entry: (typeof entries)[number], state: ProjectState): void => {
    entry.state = state;
    if (!entries.some((each) => each.state === 'first_try' || each.state === 'working')) signals.stop();
  };

  const keep = async (entry: (typeof entries)[number]): Promise<void> => {
    const reported = new Set<string>();
    const onStarted = (): void => {
      hasWorked = true;
      entry.error = null;
      enter(entry, 'working');
    };
    const { stopping } = signals;
    while (!stopping.aborted) {
      try {
        if ((await entry.project.run(onStarted)) === 'at_once') how = 'at_once';
        return enter(entry, 'ended');
      } catch (thrown) {
        const error = toBatonError(thrown);
        const when = entry.state === 'working' ? 'end' : 'start';
        if (isNew(error, reported)) entry.project.reportFailure(error, when);
        // A project that has run is not started again because its end failed.
        if (when === 'end') return enter(entry, 'ended');
        entry.error = error;
        enter(entry, 'waiting');
      }
      await sleep(clock, tryAgainMs, stopping).catch(() => {
        // The sleep is aborted only when Baton stops.
      });
    }
  };

  await Promise.all(entries.map(keep));
  const broken = entries.flatMap(({ project: { workflow }, error }) => (error === null ? [] : [{ workflow, error }]));
  return { how, hasWorked, broken };
}

/** `first_try` to `working` or `waiting`; `waiting` to `working`; `working` to `ended`. Nothing survives the process. */
type ProjectState = 'first_try' | 'waiting' | 'working' | 'ended';

function isNew({ code, message }: BatonError, reported: Set<string>): boolean {
  const key = `${code} ${message}`;
  if (reported.has(key)) return false;
  if (reported.size >= mostRemembered) reported.clear();
  reported.add(key);
  return true;
}
