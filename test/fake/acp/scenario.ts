/**
 * The script of the fake agent of the Agent Client Protocol. A scenario is JSON, so that any test, also one through the
 * whole daemon, can pass it as a file. By default it answers like an agent, says "done" in each turn and ends it well.
 */
export interface Scenario {
  /** The turns in order; the last one repeats. A turn with `match` is for prompts that contain the text. */
  readonly turns?: readonly ScriptedTurn[];
  /** The folder in which sessions are remembered; without one, every session can be continued. */
  readonly home?: string;
  /** The answer to `initialize` in addition to the usual one, or no answer at all. */
  readonly initialize?: Json | 'silence';
  /** Fields of the answer to `session/new` and its kin. */
  readonly session?: Json;
  /** Requests that are refused, by method. */
  readonly refuses?: Readonly<
    Record<string, { readonly code: number; readonly message: string; readonly data?: Json }>
  >;
  /** Updates that are sent before the answer to `session/load`. */
  readonly history?: readonly Json[];
  /** Commands that the session says it has. */
  readonly commands?: readonly string[];
  /** Does not end a turn that is cancelled. */
  readonly isStubborn?: boolean;
}

type Json = Readonly<Record<string, unknown>>;

export interface ScriptedTurn {
  readonly match?: string;
  readonly steps: readonly Step[];
  /** What the agent does by itself after the turn. */
  readonly alone?: readonly Step[];
}

/** One step. In all text that is said, `$answer` stands for the last answer of the client, as JSON. */
export type Step =
  /** An update of the session. */
  | { readonly update: Json; readonly session?: string; readonly times?: number }
  /** A message of the model, in one piece. */
  | { readonly say: string }
  /** A call of a tool, with its end. */
  | { readonly call: Json; readonly ends: Json }
  /** A request to the client; its answer is waited for. `$terminal` stands for the last terminal. */
  | { readonly ask: string; readonly params: Json }
  /** A request to the client whose answer is not waited for; it is sent even after a cancel. */
  | { readonly askLate: string; readonly params: Json }
  | { readonly waitMs: number }
  /** Text as it is, without a newline of its own. */
  | { readonly raw: string }
  | { readonly stderr: string }
  /** A shell command in the workspace; its end is waited for. */
  | { readonly run: string }
  /** A process in its own session that keeps running. */
  | { readonly grandchild: true }
  | { readonly exit: number }
  | { readonly kill: 'SIGKILL' | 'SIGTERM' }
  | { readonly forever: true }
  /** Ends the turn with these fields of the answer. */
  | { readonly end: Json }
  /** Answers the prompt with an error. */
  | { readonly refuse: Json };
