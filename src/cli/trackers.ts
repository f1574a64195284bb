import { readFileSync } from 'node:fs';
import type { Chance } from '../clock/chance.ts';
import type { Clock } from '../clock/clock.ts';
import { BatonError } from '../core/baton-error.ts';
import type { Settings, TrackerSettings } from '../core/settings.ts';
import type { TrackerProfile } from '../core/tracker-profile.ts';
import type { Store } from '../store/store.ts';
import { type Board, createBoard } from '../tracker/board/board.ts';
import { createBoardTracker } from '../tracker/board/board-tracker.ts';
import { boardProfile } from '../tracker/board/profile.ts';
import { linearProfile } from '../tracker/linear/profile.ts';
import { parseIssuesFile } from '../tracker/memory/issues-file.ts';
import { MemoryTracker } from '../tracker/memory/memory-tracker.ts';
import { memoryProfile } from '../tracker/memory/profile.ts';
import type { Tracker } from '../tracker/tracker.ts';

/** The tracker kinds a workflow file may name, and those of them that this version can work with. */
export const trackerProfiles: readonly TrackerProfile[] = [boardProfile, memoryProfile, linearProfile];
export const workingTrackers = ['board', 'memory'];

export interface TrackerParts {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly store: Store;
  /** The project's id in the store. */
  readonly project: string;
  /** Called after each change of the board. */
  readonly onBoardChange: () => void;
}

/** Makes trackers by their settings; the same settings give the same tracker, so that what it holds is kept. */
export function trackerMaker(parts: TrackerParts): (settings: Settings) => Tracker {
  const made = new Map<string, Tracker>();
  return ({ tracker }) => {
    const key = JSON.stringify([tracker.kind, tracker.provider, tracker.activeStates, tracker.terminalStates]);
    const known = made.get(key) ?? createTracker(tracker, parts);
    made.set(key, known);
    return known;
  };
}

/** Baton's own board of a project, for people and for the tracker over it. */
export function openBoard(settings: TrackerSettings, parts: TrackerParts): Board {
  if (settings.kind !== 'board') {
    throw new BatonError(
      'tracker_not_board',
      `The tracker of this workflow file is "${settings.kind}", not Baton's own board.`,
    );
  }
  const { store, project, clock, chance, onBoardChange: onChange } = parts;
  // The profile has checked it.
  return createBoard({ store, project, clock, chance, onChange, prefix: String(settings.provider.prefix) });
}

function createTracker(settings: TrackerSettings, parts: TrackerParts): Tracker {
  if (settings.kind === 'board') return createBoardTracker(openBoard(settings, parts), parts.store);
  if (settings.kind === 'memory') return createMemoryTracker(settings, parts.clock);
  const known = workingTrackers.join(' or ');
  throw new BatonError(
    'unsupported_tracker_kind',
    `There is no tracker "${settings.kind}" in this version; use ${known}.`,
  );
}

function createMemoryTracker(settings: TrackerSettings, clock: Clock): MemoryTracker {
  const file = settings.provider.issues_file;
  const issues = typeof file === 'string' ? parseIssuesFile(readIssues(file), file) : [];
  const states = [...settings.activeStates, ...settings.terminalStates, ...issues.map(({ state }) => state)];
  return new MemoryTracker({ issues, states: [...new Set(states)], clock });
}

function readIssues(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new BatonError('invalid_tracker_config', `The issues file ${file} cannot be read.`, {
      cause,
      details: { key: 'tracker.provider.issues_file' },
    });
  }
}
