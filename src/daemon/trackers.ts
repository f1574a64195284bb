import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Chance } from '../clock/chance.ts';
import type { Clock } from '../clock/clock.ts';
import { BatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import type { Settings, TrackerSettings } from '../core/settings.ts';
import { Secret } from '../core/text/secret.ts';
import type { TrackerProfile } from '../core/tracker-profile.ts';
import type { Store } from '../store/store.ts';
import { type Board, createBoard } from '../tracker/board/board.ts';
import { createBoardTracker } from '../tracker/board/board-tracker.ts';
import { boardProfile } from '../tracker/board/profile.ts';
import { linearProvider } from '../tracker/linear/linear-provider.ts';
import { createLinearTracker } from '../tracker/linear/linear-tracker.ts';
import { linearProfile } from '../tracker/linear/profile.ts';
import { parseIssuesFile } from '../tracker/memory/issues-file.ts';
import { MemoryTracker } from '../tracker/memory/memory-tracker.ts';
import { memoryProfile } from '../tracker/memory/profile.ts';
import type { Tracker } from '../tracker/tracker.ts';
import type { Remote } from './remote.ts';

/** The tracker kinds a workflow file may name. */
export const trackerProfiles: readonly TrackerProfile[] = [boardProfile, memoryProfile, linearProfile];

/** What Baton's own board needs. */
export interface BoardParts {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly store: Store;
  /** The project's id in the store. */
  readonly project: string;
  /** Called after each change of the board. */
  readonly onBoardChange: () => void;
}

export interface TrackerParts extends BoardParts {
  readonly remote: Remote;
  readonly logger: Logger;
}

/** Makes trackers by their settings; the same settings give the same tracker, so that what it holds is kept. */
export function trackerMaker(parts: TrackerParts): (settings: Settings) => Tracker {
  const made = new Map<string, Tracker>();
  // Asked for several times a tick: the same reading of the file is the same tracker without a look at its content.
  const ofReading = new WeakMap<TrackerSettings, Tracker>();
  return ({ tracker }) => {
    const same = ofReading.get(tracker);
    if (same !== undefined) return same;
    const key = keyOf(tracker);
    const known = made.get(key) ?? createTracker(tracker, parts);
    made.set(key, known);
    ofReading.set(tracker, known);
    return known;
  };
}

/** A secret counts by its digest: a new key is another tracker, and no key is written out for that. */
function keyOf({ kind, provider, activeStates, reviewStates, terminalStates }: TrackerSettings): string {
  const parts = [kind, Object.entries(provider).map(([name, value]) => [name, digested(value)])];
  return JSON.stringify([...parts, activeStates, reviewStates, terminalStates]);
}

function digested(value: unknown): unknown {
  return value instanceof Secret ? createHash('sha256').update(value.reveal()).digest('hex') : value;
}

/** Baton's own board of a project, for people and for the tracker over it. */
export function openBoard(settings: TrackerSettings, parts: BoardParts): Board {
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
  if (settings.kind === 'linear') return createRemoteLinear(settings, parts);
  const known = trackerProfiles.map(({ kind }) => kind).join(' or ');
  throw new BatonError(
    'unsupported_tracker_kind',
    `There is no tracker "${settings.kind}" in this version; use ${known}.`,
  );
}

function createRemoteLinear(settings: TrackerSettings, { remote, clock, logger }: TrackerParts): Tracker {
  const { api_key: key, allow_insecure_endpoint: allowInsecure } = settings.provider;
  // The profile has checked it.
  const credential = key instanceof Secret ? key : null;
  const http = remote.client(linearProvider, credential, allowInsecure === true);
  return createLinearTracker({ settings, http, clock, logger });
}

function createMemoryTracker(settings: TrackerSettings, clock: Clock): MemoryTracker {
  const file = settings.provider.issues_file;
  const issues = typeof file === 'string' ? parseIssuesFile(readIssues(file), file) : [];
  const { activeStates, reviewStates, terminalStates } = settings;
  const states = [...activeStates, ...reviewStates, ...terminalStates, ...issues.map(({ state }) => state)];
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
