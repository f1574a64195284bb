import type { JobName } from './cadence/job-catalogue.ts';
import type { NotifyEvent } from './notify/notify-cause.ts';
import type { agentKeys, limitKeys } from './settings/agent-keys.ts';
import type { intakeKeys } from './settings/intake-keys.ts';
import type { judgeKeys } from './settings/judge-keys.ts';
import type { learnerKeys } from './settings/learner-keys.ts';
import type { pipelineKeys } from './settings/pipeline-keys.ts';
import type { plannerKeys } from './settings/planner-keys.ts';
import type { pollingKeys } from './settings/polling-keys.ts';
import type { secondPromptKeys } from './settings/prompt-keys.ts';
import type { reviewKeys } from './settings/review-keys.ts';
import type { scannerKeys } from './settings/scanner-keys.ts';
import type { notifyKeys, observabilityKeys, serverKeys } from './settings/server-keys.ts';
import type { Resolved, Section, WrittenQuietHours } from './settings/setting.ts';
import type { setupKeys } from './settings/setup-keys.ts';
import type { boardKeys, projectKeys, storeKeys, trackerKeys } from './settings/tracker-keys.ts';
import type { hookKeys, workspaceKeys } from './settings/workspace-keys.ts';
import type { Secret } from './text/secret.ts';

/**
 * The front matter of a workflow file after parsing, defaults and environment references, as the rules and modules read
 * it. Each key is a row of `core/settings/` and stands here in camel case; only fields that `workflow/resolve/` derives
 * from a row are typed by hand below.
 */
export interface Settings {
  readonly project: Resolved<typeof projectKeys, { name: string }>;
  readonly store: StoreSettings;
  readonly tracker: TrackerSettings;
  readonly board: Section<typeof boardKeys>;
  readonly polling: PollingSettings;
  readonly workspace: WorkspaceSettings;
  readonly hooks: HookSettings;
  readonly agent: AgentSettings;
  readonly agents: Readonly<Record<string, NamedAgent>>;
  readonly limits: LimitSettings;
  readonly review: ReviewSettings;
  readonly judge: JudgeSettings;
  readonly pipeline: Section<typeof pipelineKeys>;
  readonly planner: PlannerSettings;
  readonly intake: Section<typeof intakeKeys>;
  readonly scanner: Section<typeof scannerKeys>;
  readonly learner: Section<typeof learnerKeys>;
  readonly setup: Section<typeof setupKeys>;
  readonly secondPrompt: Section<typeof secondPromptKeys>;
  readonly notify: NotifySettings;
  readonly server: Section<typeof serverKeys>;
  readonly observability: Section<typeof observabilityKeys>;
  /** The keys that each backend declares, by its name, in camel case; the backend types them. */
  readonly backends: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Names of environment variables that hold secrets of Baton's own; no child process may see them. */
  readonly secretEnvironment: readonly string[];
}

/** The URL may hold a password. Null: a SQLite file in the state folder. */
export type StoreSettings = Resolved<typeof storeKeys, { url: Secret | null }>;

export type PollingSettings = Resolved<
  typeof pollingKeys,
  {
    quietHours: QuietHours | null;
    timeZone: string;
    /** Only the intervals that the file sets. */
    jobIntervalsMs: Readonly<Partial<Record<JobName, number>>>;
  }
>;

export interface QuietHours extends WrittenQuietHours {
  /** IANA name, such as `Europe/Berlin`. */
  readonly timeZone: string;
}

export type TrackerSettings = Resolved<
  typeof trackerKeys,
  {
    kind: string;
    activeStates: readonly string[];
    terminalStates: readonly string[];
    reviewStates: readonly string[];
    /** Names of environment variables that hold secrets of the tracker. */
    secretEnvironment: readonly string[];
  }
>;

/** How the files of an issue come into its workspace. */
export type WorkspaceStrategy = NonNullable<Section<typeof workspaceKeys>['strategy']>;

/** A git repository as the workflow file names it. */
export interface RepositorySettings {
  /** An absolute path, or a URL as git takes it (https://, ssh://, git@host:path). May carry a password. */
  readonly location: string;
  /** The same without password, for people, logs and the agent's own remote. Only SSH, which needs it, keeps its user. */
  readonly shown: string;
  readonly isLocal: boolean;
}

export type WorkspaceSettings = Resolved<
  typeof workspaceKeys,
  {
    /** Absolute; every workspace is a direct child of it. */
    root: string;
    /** Never null when the strategy is `worktree` or `clone`. */
    repo: RepositorySettings | null;
    strategy: WorkspaceStrategy;
    /** Where `copy` starts: the local repository's folder, otherwise the folder of the workflow file. Absolute. */
    copyFrom: string;
  }
>;

export type HookSettings = Section<typeof hookKeys>;

export type AgentSettings = Resolved<
  typeof agentKeys,
  {
    backend: string;
    /** The accounts of all backends, at least one for `backend`. */
    accounts: readonly AccountSettings[];
    /** Absolute. */
    isolationRead: readonly string[];
    isolationWrite: readonly string[];
  }
>;

/** An agent of `agents`. */
export interface NamedAgent {
  /** As in the file. */
  readonly written: Readonly<Record<string, unknown>>;
  /** The settings of its runs: those of the file with its own in `agent` and in the section of its backend. No agents. */
  readonly settings: Settings;
}

/** Whose quota is used, and how the agent logs in. */
export interface AccountSettings {
  readonly name: string;
  readonly backend: string;
  /** Variables for the agent, with references resolved; secrets are `Secret`. */
  readonly env: Readonly<Record<string, string | Secret>>;
  /** The folder where the agent keeps login and threads, absolute; null: its own default. */
  readonly home: string | null;
}

/** A step that is null or false is left out (`core/run/context-recovery.ts`). */
export type ContextRecoverySettings = AgentSettings['contextRecovery'];

export type LimitSettings = Section<typeof limitKeys>;

/** The token is null where the program of the host knows it. */
export type ReviewSettings = Resolved<typeof reviewKeys, { token: Secret | null }>;

export type JudgeSettings = Section<typeof judgeKeys>;

export type PlannerSettings = Section<typeof plannerKeys>;

export type NotifySettings = Resolved<
  typeof notifyKeys,
  { targets: readonly NotifyTarget[]; quietHours: QuietHours | null; timeZone: string }
>;

export type NotifyTarget = { readonly events: readonly NotifyEvent[] } & (
  | { readonly kind: 'webhook'; readonly url: Secret; readonly secret: Secret; readonly allowInsecure: boolean }
  | { readonly kind: 'slack'; readonly url: Secret; readonly allowInsecure: boolean }
  /** Shell text; a secret where it came from a variable. */
  | { readonly kind: 'command'; readonly run: string | Secret }
  /** The issue itself, as a comment: `tracker.comments`. */
  | { readonly kind: 'tracker' }
);
