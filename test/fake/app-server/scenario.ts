/**
 * The script of the fake app server. A scenario is JSON, so that any test, also one through the whole daemon, can pass it
 * as a file. By default it answers every request like Codex, says "done" in each turn and completes it.
 */
export interface Scenario {
  /** The turns in order; the last one repeats. A turn with `match` is for prompts that contain the text. */
  readonly turns?: readonly ScriptedTurn[];
  /** Counts turns across all processes with the same trace: for retries and restarts. */
  readonly acrossProcesses?: boolean;
  /** Instead of the ordinary answer to a method: a result, an error, or no answer at all. */
  readonly answers?: Readonly<Record<string, ScriptedAnswer>>;
  /** Played before the answer to a method, such as `initialize`. */
  readonly before?: Readonly<Record<string, readonly Step[]>>;
  /** Continues when its input is closed, and ignores SIGTERM. */
  readonly isStubborn?: boolean;
  /** The folder in which threads are remembered; without one, every thread can be resumed. */
  readonly home?: string;
}

export interface ScriptedTurn {
  readonly match?: string;
  readonly steps: readonly Step[];
}

export type ScriptedAnswer = { readonly result: unknown } | { readonly error: unknown } | 'silence';

/**
 * One step. In all text of a frame `$thread` and `$turn` stand for the current ids, and `$env:NAME` for a
 * variable of its environment. A turn whose steps end without `complete`, `fail` or a frame of its own that ends it is
 * completed after them; `forever` leaves it open.
 */
export type Step =
  /** A frame, as it goes over the wire; `times` sends it again and again. */
  | { readonly send: Readonly<Record<string, unknown>>; readonly times?: number }
  /** Asks the client and waits for its answer; `$answer` is its text in later steps. */
  | { readonly ask: { readonly id: number | string; readonly method: string; readonly params?: unknown } }
  /** An agent message, bit by bit and whole. */
  | { readonly say: string }
  | { readonly usage: Readonly<Record<string, unknown>>; readonly last?: Readonly<Record<string, unknown>> }
  /** Tells that the quota of the account is used up, and comes back in so many seconds. */
  | { readonly usedUpForSeconds: number }
  | { readonly waitMs: number }
  /** Text as it is, without a newline of its own. */
  | { readonly raw: string; readonly times?: number }
  | { readonly stderr: string }
  /** A shell command in the workspace; its end is waited for. */
  | { readonly run: string }
  /** A process in its own session that keeps running. */
  | { readonly grandchild: true }
  | { readonly exit: number }
  | { readonly kill: 'SIGKILL' | 'SIGTERM' }
  | { readonly forever: true }
  /** Ends the turn with this status and this error. */
  | { readonly complete: string; readonly error?: unknown }
  /** The answer to `turn/start` comes here and not at once. */
  | { readonly answerStart: true };
