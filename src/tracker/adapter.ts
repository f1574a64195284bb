import type { Clock } from '../clock/clock.ts';
import type { AdapterInit } from '../core/adapter-init.ts';
import type { Finding } from '../core/finding.ts';
import type { Logger } from '../core/logger.ts';
import type { TrackerSettings } from '../core/settings.ts';
import type { Secret } from '../core/text/secret.ts';
import type { TrackerProfile } from '../core/tracker-profile.ts';
import type { HttpClient, HttpProvider } from '../http/http.ts';
import type { Board } from './board/board.ts';
import type { BoardStorage } from './board/board-parts.ts';
import type { Tracker } from './tracker.ts';

/**
 * Everything that Baton knows of one kind of tracker. Its folder exports one, `adapters.ts` lists it, and no other file
 * names it. The profile is what a workflow file may say about it; tools of its own for agents are `nativeTools` of the
 * tracker that it makes.
 */
export interface TrackerAdapter extends TrackerProfile {
  /** Makes the tracker; the settings have passed `check`. Throws where a file that they name cannot be used. */
  create(settings: TrackerSettings, parts: TrackerParts): Tracker;
  /** What `baton doctor` finds out about it, without a change; absent where there is nothing to find out. */
  readonly doctor?: (settings: TrackerSettings, parts: RemoteParts) => Promise<readonly Finding[]>;
  readonly init: TrackerInit;
  /** The board that people use through Baton; absent where they use the tracker itself. */
  readonly openBoard?: (settings: TrackerSettings, storage: BoardStorage) => Board;
  /** Where it is described: a page in docs/, with the heading where the page is about more. */
  readonly docs: string;
}

/** What a tracker elsewhere needs to be asked. */
export interface RemoteParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Gives a metered client for a service; the same credential has the same limits. */
  readonly remote: {
    client(provider: HttpProvider, credential: Secret | null, allowInsecure: boolean): HttpClient;
  };
}

export interface TrackerParts extends RemoteParts {
  /** For a tracker that keeps its issues in Baton's own store. */
  readonly storage: BoardStorage;
}

export interface TrackerInit extends AdapterInit {
  /** Other people use it too: by default only issues with a label are worked on. */
  readonly isShared: boolean;
}
