/**
 * What the scripted app-server does. A scenario is JSON, so that any test, also one through the whole daemon, can hand it
 * over as a file. Without any of it, it answers every request as Codex would, says "done" in each turn and completes it.
 */
export interface Scenario {
  /** The turns in their order; the last one is played again and again. `match` makes one for prompts that have the text. */
  readonly turns?: readonly ScriptedTurn[];
  /** Counts turns over all processes with the same trace, not only those of this one: for retries and restarts. */
  readonly acrossProcesses?: boolean;
  /** Instead of the ordinary answer to a method: a result, an error, or no answer at all. */
  readonly answers?: Readonly<Record<string, ScriptedAnswer>>;
  /** Played before the answer to a method, such as `initialize`. */
  readonly before?: Readonly<Record<string, readonly Step[]>>;
  /** Goes on when its input is closed, and when it is told to terminate. */
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
 * One thing to do. In all text of a frame `$thread` and `$turn` stand for the ids of the moment, and `$env:NAME` for a
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
  | { readonly waitMs: number }
  /** Text as it is, without a newline of its own. */
  | { readonly raw: string; readonly times?: number }
  | { readonly stderr: string }
  /** A shell command in the workspace; its end is waited for. */
  | { readonly run: string }
  /** A process in a session of its own that lives on. */
  | { readonly grandchild: true }
  | { readonly exit: number }
  | { readonly kill: 'SIGKILL' | 'SIGTERM' }
  | { readonly forever: true }
  /** Ends the turn with this status and this error. */
  | { readonly complete: string; readonly error?: unknown }
  /** The answer to `turn/start` comes here and not at once. */
  | { readonly answerStart: true };
