import type { JobName } from './cadence/job-catalogue.ts';
import type { NotifyEvent } from './notify/notify-cause.ts';
import type { Secret } from './text/secret.ts';

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
  readonly notify: NotifySettings;
  /** Names of environment variables that hold secrets of Baton's own; no child process may see them. */
  readonly secretEnvironment: readonly string[];
  readonly server: {
    /** Null: the one it had last time, or any. 0: any. */
    readonly port: number | null;
    readonly host: string;
    /** Names under which others reach it. */
    readonly allowedHosts: readonly string[];
  };
  readonly observability: {
    /** Whether a start on a terminal shows what is going on. */
    readonly isViewShown: boolean;
    readonly refreshMs: number;
  };
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
  /** `fixed`: every `intervalMs`. `adaptive`: by how long ago something last happened. */
  readonly mode: 'fixed' | 'adaptive';
  readonly intervalMs: number;
  readonly adaptive: AdaptiveSettings;
  /** When an adaptive Baton is dormant whatever happens; null: never. */
  readonly quietHours: QuietHours | null;
  /** An issue that was read within this time counts as just read. */
  readonly freshnessMs: number;
  /** Intervals of jobs that the file sets. */
  readonly jobIntervalsMs: Readonly<Partial<Record<JobName, number>>>;
  /** How many requests a provider may get; null: as many as it allows. */
  readonly budget: {
    readonly requestsPerHour: RequestAllowance | null;
    readonly requestsPerDay: RequestAllowance | null;
  };
}

export interface AdaptiveSettings {
  readonly activeIntervalMs: number;
  readonly idleIntervalMs: number;
  readonly dormantIntervalMs: number;
  /** So long after the last activity the mode is idle, and so long after it dormant. */
  readonly idleAfterMs: number;
  readonly dormantAfterMs: number;
}

/** Minutes of the day in a time zone; the end before the beginning is across midnight, and they are never the same. */
export interface QuietHours {
  readonly fromMinute: number;
  readonly toMinute: number;
  /** IANA name, such as `Europe/Berlin`. */
  readonly timeZone: string;
}

/** One number for every provider, or numbers by the provider's name; one that is not named has no limit. */
export type RequestAllowance = number | Readonly<Record<string, number>>;

export interface TrackerSettings {
  readonly kind: string;
  readonly activeStates: readonly string[];
  readonly terminalStates: readonly string[];
  /** States in which an issue waits for a person's review; only counted, for `agent.max_in_review`. */
  readonly reviewStates: readonly string[];
  /** Whose text goes into a prompt as it is; everybody else's is fenced. Ids, logins or e-mails. */
  readonly trustedAuthors: readonly string[];
  /** Lower-case; an issue needs all of them. A blank one matches no issue. */
  readonly requiredLabels: readonly string[];
  /** What the adapter of this kind reads, with references resolved; secrets are `Secret`. Unknown keys are kept. */
  readonly provider: Readonly<Record<string, unknown>>;
  /** Names of environment variables that hold secrets of the tracker. */
  readonly secretEnvironment: readonly string[];
}

/** How the files of an issue come into its workspace: a git worktree, a clone of its own, or whatever the hooks bring. */
export type WorkspaceStrategy = 'worktree' | 'clone' | 'none';

/** A git repository as the workflow file names it. */
export interface RepositorySettings {
  /** An absolute path, or a URL as git takes it (https://, ssh://, git@host:path). May carry a password. */
  readonly location: string;
  /** The same without password, for people, logs and the agent's own remote. Only SSH, which needs it, keeps its user. */
  readonly shown: string;
  readonly isLocal: boolean;
}

export interface WorkspaceSettings {
  /** Absolute; every workspace is a direct child of it. */
  readonly root: string;
  /** Never null when the strategy is `worktree` or `clone`. */
  readonly repo: RepositorySettings | null;
  readonly strategy: WorkspaceStrategy;
  /** The branch that new branches begin at; null is the repository's own HEAD. */
  readonly base: string | null;
  /** Files that git does not bring, relative to `copyFrom`; globs. */
  readonly copy: readonly string[];
  /** Where they are: the local repository's folder, otherwise the folder of the workflow file. Absolute. */
  readonly copyFrom: string;
  /** Runs once in a workspace that was just made, as shell text. */
  readonly setup: string | null;
  /** Whether a workspace that is no repository is kept as an archive before it is removed. */
  readonly archive: boolean;
  /** How long the workspace of a finished issue stays; 0: not at all. */
  readonly retentionMs: number;
  /** The same for single states, by normalised state name. */
  readonly retentionMsByState: Readonly<Record<string, number>>;
  /** How long salvaged work is kept; 0: for ever. */
  readonly salvageRetentionDays: number;
  /** With less free disk than this nothing new starts; 0 switches the check off. */
  readonly minFreeDiskMb: number;
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
  /** The accounts of all backends, at least one for `backend`; the first one that is not parked is used. */
  readonly accounts: readonly AccountSettings[];
  /** From so much of a known quota window on nothing new starts on its account; 100 waits until it is used up. */
  readonly quotaStopPercent: number;
  /** How Baton answers what an agent asks to be allowed. */
  readonly approvals: 'auto' | 'deny' | 'ask';
  /** How long a question waits for a person while its agent lives; then the run ends and the issue is held. */
  readonly askTimeoutMs: number;
  /** After so many turns in a row without a change and with the same last words a run is a stalemate; 0: never. */
  readonly maxIdleTurns: number;
  /** The longest a turn may take; 0: no limit. */
  readonly turnWallTimeMs: number;
  /** What is done differently after a run died of its context window. */
  readonly contextRecovery: ContextRecoverySettings;
  /** What tokens cost by model, for agents that do not tell it. */
  readonly prices: Readonly<Record<string, TokenPrice>>;
  readonly maxConcurrentAgents: number;
  /** Limits by normalised state name; a state without one has only the global limit. */
  readonly maxConcurrentAgentsByState: Readonly<Record<string, number>>;
  /** While so many issues are in review nothing new is started; 0 is no limit. */
  readonly maxInReview: number;
  /** While so many issues are claimed (running, retrying or held) nothing new is started; 0 is no limit. */
  readonly maxClaimed: number;
  readonly maxTurns: number;
  readonly maxRetryBackoffMs: number;
  /** After this many failures in a row an issue is held; 0 is no limit. */
  readonly maxRetries: number;
  /** After this many runs in a row that ended well and changed nothing an issue is held; 0 switches the check off. */
  readonly maxStaleRuns: number;
  /** With less free memory than this nothing new starts; 0 switches the check off. */
  readonly minFreeMemoryMb: number;
  /** The longest silence inside a turn (specification 5.3.6: silence, not duration). */
  readonly turnTimeoutMs: number;
  /** The longest wait for an answer while a session starts. */
  readonly readTimeoutMs: number;
  /** Without any agent event for this long a run is stalled; zero or less switches the check off. */
  readonly stallTimeoutMs: number;
}

/** Whose quota is used, and how the agent gets at it. */
export interface AccountSettings {
  readonly name: string;
  readonly backend: string;
  /** Variables for the agent, with references resolved; secrets are `Secret`. */
  readonly env: Readonly<Record<string, string | Secret>>;
  /** The folder where the agent keeps login and threads, absolute; null: its own default. */
  readonly home: string | null;
}

/** A step that is null or false is left out (`core/run/context-recovery.ts`). */
export interface ContextRecoverySettings {
  readonly reducedBudgetTokens: number | null;
  readonly compact: boolean;
  readonly freshStart: boolean;
  readonly largerModel: string | null;
}

/** US dollars for a million tokens. */
export interface TokenPrice {
  readonly input: number;
  /** Null: as `input`. */
  readonly cachedInput: number | null;
  readonly output: number;
}

/** What may be spent; 0 switches a limit off. `core/run/limits.ts` has the rules. */
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
  /** How Codex gets the tools: as dynamic tools of its protocol, over MCP, or not at all. */
  readonly tools: 'dynamic' | 'mcp' | 'none';
}

/** Who is told when something happens that a person should know of. */
export interface NotifySettings {
  readonly targets: readonly NotifyTarget[];
  /** When nothing is sent; null: never. */
  readonly quietHours: QuietHours | null;
  /** Whether what is wrong with the daemon is told in quiet hours too. */
  readonly evenInQuietHours: boolean;
}

export type NotifyTarget = { readonly events: readonly NotifyEvent[] } & (
  | { readonly kind: 'webhook'; readonly url: Secret; readonly secret: Secret; readonly allowInsecure: boolean }
  | { readonly kind: 'slack'; readonly url: Secret; readonly allowInsecure: boolean }
  /** Shell text; a secret where it came from a variable. */
  | { readonly kind: 'command'; readonly run: string | Secret }
);
