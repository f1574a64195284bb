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
 * Everything that Baton knows about one kind of tracker. The folder of the adapter exports it, `adapters.ts` lists it,
 * and no other file names it. The profile defines its keys in a workflow file. Its own tools for agents are the
 * `nativeTools` of the tracker that it creates.
 */
export interface TrackerAdapter extends TrackerProfile {
  /** Creates the tracker; the settings have passed `check`. Throws where a file that they name cannot be used. */
  create(settings: TrackerSettings, parts: TrackerParts): Tracker;
  /** The checks of `baton doctor`, which change nothing; absent where there is nothing to check. */
  readonly doctor?: (settings: TrackerSettings, parts: RemoteParts) => Promise<readonly Finding[]>;
  readonly init: TrackerInit;
  /** The board that people use through Baton; absent where people use the tracker itself. */
  readonly openBoard?: (settings: TrackerSettings, storage: BoardStorage) => Board;
  /** Its documentation: a page in docs/, with a heading where the page has other topics. */
  readonly docs: string;
}

/** What Baton needs to send requests to a remote tracker. */
export interface RemoteParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns a metered client for a service; clients with the same credential share its limits. */
  readonly remote: {
    client(provider: HttpProvider, credential: Secret | null, allowInsecure: boolean): HttpClient;
  };
}

export interface TrackerParts extends RemoteParts {
  /** For a tracker that keeps its issues in Baton's own store. */
  readonly storage: BoardStorage;
}

export interface TrackerInit extends AdapterInit {
  /** Other people use it too: by default Baton works only on issues with a label. */
  readonly isShared: boolean;
  /** `tracker.states` with the usual names, for a tracker whose states people name: without them no change reaches review. */
  readonly states?: Readonly<Record<string, string>>;
}
