/**
 * The script of the fake Claude Code. A scenario is JSON, so that any test, also one through the whole daemon, can pass it
 * as a file. By default it answers like Claude Code, says "done" in each turn and ends it with success.
 */
export interface Scenario {
  /** The turns in order; the last one repeats. A turn with `match` is for prompts that contain the text. */
  readonly turns?: readonly ScriptedTurn[];
  /** The folder in which sessions are remembered; without one, every session can be resumed. */
  readonly home?: string;
  /** Does not say what it has read, like an older version. */
  readonly isOlder?: boolean;
  /** The answer to `initialize`, or no answer at all. */
  readonly initialize?: Readonly<Record<string, unknown>> | 'silence';
  /** Does not end a turn that is interrupted. */
  readonly isStubborn?: boolean;
}

export interface ScriptedTurn {
  readonly match?: string;
  readonly steps: readonly Step[];
}

/** One step. In all text of a message `$answer` stands for the last answer of the client, as JSON. */
export type Step =
  /** A message, as it goes over the wire; `times` sends it again and again. */
  | { readonly send: Readonly<Record<string, unknown>>; readonly times?: number }
  /** A control request; its answer is waited for. */
  | { readonly ask: Readonly<Record<string, unknown>> }
  /** A message of the model. */
  | { readonly say: string; readonly usage?: Readonly<Record<string, unknown>> }
  /** A call of a tool, with its result. */
  | {
      readonly call: string;
      readonly input: Readonly<Record<string, unknown>>;
      readonly result: string;
      readonly isError?: boolean;
    }
  /** A turn that Claude Code begins by itself, once this one is over. */
  | { readonly thenAlone: readonly Step[] }
  /** Waits until this many messages wait to be read. */
  | { readonly untilSaid: number }
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
  /** Ends the turn with these fields of the result. */
  | { readonly end: Readonly<Record<string, unknown>> };
