import type { AgentBackend } from '../agent/backend.ts';
import type { Chance } from '../clock/chance.ts';
import type { Clock } from '../clock/clock.ts';
import type { TrackerAdapter } from '../tracker/adapter.ts';

/** The process and machine that Baton runs on; built once in `main.ts` and passed on as a value. */
export interface Surroundings {
  /** Absent: the adapters of the two lists, which `daemon/adapters.ts` loads when a command needs them. */
  readonly adapters?: Adapters;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly homeDir: string;
  /** The home that the system has for this user, whatever the environment says; absent where it has none. */
  readonly accountHome?: string | undefined;
  readonly tmpDir: string;
  /** IANA name, such as `Europe/Berlin`. */
  readonly timeZone: string;
  /** Null when the platform has no user ids. */
  readonly uid: number | null;
  readonly hostName: string;
  /** The login name, which is the default author of commands. */
  readonly userName: string;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: Output;
  readonly stderr: Output;
  /** How a reader of our output starts Baton: from a clone its `bin/baton`. */
  readonly batonPath: string;
  readonly nodePath: string;
  readonly nodeVersion: string;
  readonly platform: NodeJS.Platform;
  readonly version: string;
  /** The program of an agent backend that comes with Baton, by the name of the backend. */
  readonly agentProgram: (backend: string) => URL;
  /** The folder of the built dashboard, if it was built. */
  readonly dashboardFolder: URL;
  /** Drops what the program that started this one left: its descriptors and its variables, before a daemon starts agents. */
  readonly closeInherited: () => void;
  /** Does what Ctrl-C does, for a terminal that sends it as a key. */
  readonly interrupt: () => void;
  /** Calls the listener at each such signal until the returned function is called. */
  readonly onSignal: (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP', listener: () => void) => () => void;
}

/** The trackers and agents that a workflow file may name. */
export interface Adapters {
  readonly trackers: readonly TrackerAdapter[];
  readonly backends: readonly AgentBackend[];
}

export type Output = NodeJS.WriteStream;
