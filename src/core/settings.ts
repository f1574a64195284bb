import type { Secret } from './secret.ts';

/**
 * The front matter of a workflow file after parsing, defaults and environment references: what the rules and rooms
 * read. Keys are those of the file in camel case; `docs/configuration.md` describes each. `workflow/` makes it.
 */
export interface Settings {
  readonly project: {
    /** Under which name the store keeps what belongs to this file. */
    readonly name: string;
  };
  readonly store: StoreSettings;
  readonly tracker: TrackerSettings;
  readonly polling: PollingSettings;
  readonly workspace: WorkspaceSettings;
  readonly hooks: HookSettings;
  readonly agent: AgentSettings;
  readonly limits: LimitSettings;
  readonly codex: CodexSettings;
  /** Names of environment variables that hold secrets of Baton's own; no child process may see them. */
  readonly secretEnvironment: readonly string[];
}

export interface StoreSettings {
  /** Null: a SQLite file in the state folder. A secret, because it may hold a password. */
  readonly url: Secret | null;
  /** How long finished runs are kept; 0 is for ever. */
  readonly retentionDays: number;
  /** How long a claim holds without being renewed. */
  readonly leaseMs: number;
}

export interface PollingSettings {
  readonly intervalMs: number;
  /** An issue that was read within this time counts as just read. */
  readonly freshnessMs: number;
}

export interface TrackerSettings {
  readonly kind: string;
  readonly activeStates: readonly string[];
  readonly terminalStates: readonly string[];
  /** Lower-case; an issue needs all of them. A blank one matches no issue. */
  readonly requiredLabels: readonly string[];
  /** What the adapter of this kind reads, with references resolved; secrets are `Secret`. Unknown keys are kept. */
  readonly provider: Readonly<Record<string, unknown>>;
  /** Names of environment variables that hold secrets of the tracker. */
  readonly secretEnvironment: readonly string[];
}

export interface WorkspaceSettings {
  /** Absolute; every workspace is a direct child of it. */
  readonly root: string;
}

export interface HookSettings {
  readonly afterCreate: string | null;
  readonly beforeRun: string | null;
  readonly afterRun: string | null;
  readonly beforeRemove: string | null;
  readonly timeoutMs: number;
}

export interface AgentSettings {
  /** Which backend runs the agent: `codex`, `command`, `rehearsal`, … */
  readonly backend: string;
  /** The program of the `command` backend, as shell text. */
  readonly command: string | null;
  /** Environment variables handed on to the agent beyond the usual list. */
  readonly env: readonly string[];
  readonly maxConcurrentAgents: number;
  /** Limits by normalised state name; a state without one has only the global limit. */
  readonly maxConcurrentAgentsByState: Readonly<Record<string, number>>;
  readonly maxTurns: number;
  readonly maxRetryBackoffMs: number;
  /** After this many failures in a row an issue is held; 0 is no limit. */
  readonly maxRetries: number;
  /** After this many runs in a row that ended well and changed nothing an issue is held; 0 switches the check off. */
  readonly maxStaleRuns: number;
  /** The longest silence inside a turn (specification 5.3.6: silence, not duration). */
  readonly turnTimeoutMs: number;
  /** The longest wait for an answer while a session starts. */
  readonly readTimeoutMs: number;
  /** Without any agent event for this long a run is stalled; zero or less switches the check off. */
  readonly stallTimeoutMs: number;
}

/** What may be spent; 0 switches a limit off. `core/limits.ts` has the rules. */
export interface LimitSettings {
  readonly runsPerIssue: number;
  readonly tokensPerIssue: number;
  readonly runWallTimeMs: number;
  readonly issueWallTimeMs: number;
  /** In US dollars, to a millionth. */
  readonly usdPerIssue: number;
  readonly tokensPerDay: number;
  /** In US dollars, to a millionth. */
  readonly usdPerDay: number;
}

export interface CodexSettings {
  readonly command: string;
  readonly approvalPolicy: string | Readonly<Record<string, unknown>>;
  readonly threadSandbox: string;
  readonly turnSandboxPolicy: Readonly<Record<string, unknown>> | null;
}
