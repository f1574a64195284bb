import type { BatonError } from './baton-error.ts';
import type { Issue } from './issue/issue.ts';
import type { PromptName } from './prompt/choose-prompt.ts';
import type { Role } from './run/role.ts';
import type { Settings } from './settings.ts';

/** One good reading of a workflow file. It never changes; a reload makes a new one. */
export interface Workflow {
  /** Absolute path of the file it was read from. */
  readonly path: string;
  /** Changes when, and only when, the content of the file changes, or a person confirms changes of it. */
  readonly revision: string;
  readonly settings: Settings;
  readonly renderPrompt: (input: PromptInput) => string;
  /** The prompt that `renderPrompt` takes for this issue and role. */
  readonly promptOf: (wanted: PromptWish) => PromptName;
  /** The branch of an issue, always a name that git takes. Throws `template_render_error`. */
  readonly renderBranch: (issue: Issue) => string;
}

/** What decides about the prompt of a run. */
export interface PromptWish {
  readonly issueId: string;
  readonly role: Role;
  /** The phase of a phase agent. */
  readonly phase: string | null;
}

/** What a prompt template may use. */
export interface PromptInput {
  readonly issue: Issue;
  /** Whose prompt it is; absent: the worker's. */
  readonly role?: Role;
  /** The phase of a phase agent. */
  readonly phase?: string | null;
  /** Null on the first run, at least 1 on every later one (specification 12.3). */
  readonly attempt: number | null;
  readonly retryKind: RetryKind | null;
  /** Takes the first or the second prompt of workers whatever the issue is; absent: the issue decides. */
  readonly which?: 'first' | 'second';
  /** Encloses text of strangers in the prompt; an unguessable word, new for each prompt. Null: nothing is enclosed. */
  readonly fenceMark: string | null;
}

/**
 * Why an issue is retried: its last run ended well and it is still active, the run failed, or Baton itself cut it
 * short; or the agent's account had used up its quota, and the work continues when there is more; or a person answered
 * its question, or handed it back after working on it by hand; or its change was sent back from review. `review` starts
 * no run: its commits become a pull request.
 */
export type RetryKind =
  | 'continuation'
  | 'failure'
  | 'interrupted'
  | 'quota'
  | 'answered'
  | 'handed_back'
  | 'revision'
  | 'review';

/**
 * Where the daemon gets its workflow from. `read` checks the file and returns the newest good reading; while the file
 * is bad that is the last good one, and `problem` says what is wrong until it is fixed.
 */
export interface WorkflowSource {
  read(): WorkflowReading;
  /**
   * Lets the changes that wait count. With a revision only those of that content: the file may have changed since a
   * person saw them. Absent where no change ever waits.
   */
  takeWaiting?(revision: string | null): TakenChanges;
}

export interface WorkflowReading {
  readonly workflow: Workflow;
  readonly problem: BatonError | null;
  /** Changes of the file that wait for a person; absent when none does. */
  readonly waiting?: WaitingChanges;
}

/**
 * Changes of guarded keys (`core/settings/setting.ts`) that an agent could have made. The values from before stay in force
 * until a person lets the new ones count (`baton reload`).
 */
export interface WaitingChanges {
  /** Of the content of the file. */
  readonly revision: string;
  readonly since: number;
  readonly settings: readonly WaitingSetting[];
}

export interface WaitingSetting {
  /** Dotted, as in the file. */
  readonly key: string;
  /** In force, and wanted by the file; JSON data, secrets masked. */
  readonly before: unknown;
  readonly after: unknown;
}

/** The keys that count now; `none_wait` and `others_wait` when nothing was done. */
export type TakenChanges = { readonly keys: readonly string[] } | 'none_wait' | 'others_wait';
