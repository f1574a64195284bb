import type { AdapterErrors } from './error-catalogue.ts';
import type { Problem } from './problem.ts';
import type { EditGuard, TakesEffect } from './settings/setting.ts';
import type { TrackerSettings } from './settings.ts';

/**
 * The facts that `workflow/` needs about a tracker kind to read the `tracker` section: `TrackerAdapter` has them, and
 * `daemon/adapters.ts` passes all of them in, so that `workflow` knows no adapter and an adapter knows no YAML.
 */
export interface TrackerProfile {
  readonly kind: string;
  /** Null: the workflow file has to name the states. */
  readonly defaultActiveStates: readonly string[] | null;
  readonly defaultTerminalStates: readonly string[] | null;
  /** States of review, for `agent.max_in_review`; absent: the workflow file has to name them when it sets that. */
  readonly defaultReviewStates?: readonly string[];
  /** The states of its own for Baton's moves, which no file can rename; absent: the file names them. */
  readonly roleStates?: TrackerSettings['states'];
  /** Baton's own board, with a backlog: `board` settings count. */
  readonly hasBacklog?: true;
  /** Baton can create the parts of an issue in it (`TrackerChanges.createChildren`). */
  readonly makesChildren?: true;
  /** All states, where the adapter knows them: any other state in the file is a mistake. */
  readonly knownStates?: readonly string[];
  /** The state to which Baton itself moves an issue when it starts work; it has to be an active one. */
  readonly startState?: string;
  /** Authors, by their `authorNames`, whose text is trusted regardless of the file: the people on this machine. */
  readonly trustedAuthors?: readonly string[];
  /** The keys under `tracker.provider`; others are kept and reported. */
  readonly keys: readonly ProviderKey[];
  /** The errors that it raises beyond those of the catalogue. */
  readonly errors?: AdapterErrors;
  /** Problems of the resolved values of `tracker.provider`, beyond their types. */
  check(provider: Readonly<Record<string, unknown>>): readonly Problem[];
}

/** One key under `tracker.provider`; the tables of docs/configuration.md come from it. */
export interface ProviderKey {
  readonly name: string;
  readonly type: 'string' | 'path' | 'boolean';
  readonly description: string;
  readonly takesEffect: TakesEffect;
  readonly guard: EditGuard;
  /** A secret is resolved to a `Secret`; its variables are kept from every child process. */
  readonly secret?: boolean;
  /** Used when the key is absent, or when it names a variable that is not set. */
  readonly fallbackEnv?: string;
  /** Also read as `tracker.<name>`, the older spelling; `tracker.provider.<name>` wins. */
  readonly flat?: boolean;
  readonly default?: string | boolean;
  /** The behaviour without a value, in Markdown, where there is no `default`. */
  readonly defaultText?: string;
}
