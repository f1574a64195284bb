import { createHash } from 'node:crypto';
import { BatonError } from '../core/baton-error.ts';
import type { Settings, TrackerSettings } from '../core/settings.ts';
import { Secret } from '../core/text/secret.ts';
import type { Store } from '../store/store.ts';
import type { TrackerParts } from '../tracker/adapter.ts';
import type { Board } from '../tracker/board/board.ts';
import type { BoardStorage } from '../tracker/board/board-parts.ts';
import type { Tracker } from '../tracker/tracker.ts';
import { type TaskReads, withTasks } from '../tracker/with-tasks.ts';
import { findTracker } from './adapters.ts';
import type { Surroundings } from './surroundings.ts';

/** Creates trackers from settings. The same settings return the same tracker, so that its state survives. */
export function trackerMaker(
  parts: TrackerParts,
  tasks: TaskReads,
  surroundings: Pick<Surroundings, 'adapters'>,
): (settings: Settings) => Tracker {
  const made = new Map<string, Tracker>();
  // Called several times a tick: the same reading of the file returns its tracker without comparing its content.
  const ofReading = new WeakMap<TrackerSettings, Tracker>();
  return ({ tracker }) => {
    const same = ofReading.get(tracker);
    if (same !== undefined) return same;
    const key = keyOf(tracker);
    const known = made.get(key) ?? findTracker(tracker.kind, surroundings).create(tracker, parts);
    made.set(key, known);
    const whole = withTasks(known, tasks, tracker);
    ofReading.set(tracker, whole);
    return whole;
  };
}

/** Secrets enter the key as digests: a new secret makes another tracker, and the key contains none. */
function keyOf({ kind, provider, activeStates, reviewStates, terminalStates, states }: TrackerSettings): string {
  const parts = [kind, Object.entries(provider).map(([name, value]) => [name, digested(value)])];
  return JSON.stringify([...parts, activeStates, reviewStates, terminalStates, states]);
}

function digested(value: unknown): unknown {
  return value instanceof Secret ? createHash('sha256').update(value.reveal()).digest('hex') : value;
}

/** The board of a project that people use through Baton. */
export function openBoard(
  settings: TrackerSettings,
  storage: BoardStorage,
  surroundings: Pick<Surroundings, 'adapters'>,
): Board {
  const { kind, openBoard: open } = findTracker(settings.kind, surroundings);
  if (open !== undefined) return open(settings, storage);
  throw new BatonError('tracker_not_board', `The tracker of this workflow file is "${kind}", not Baton's own board.`);
}

/** The tasks of a project, for its tracker. */
export function taskReads(store: Pick<Store, 'tasks'>, project: string): TaskReads {
  return {
    open: () => store.tasks.list(project, { statuses: ['waiting'], limit: mostOpenTasks }),
    byIds: (ids) => store.tasks.readAll(project, ids),
  };
}

/** More than people ask for; the others wait for their turn. */
const mostOpenTasks = 100;
