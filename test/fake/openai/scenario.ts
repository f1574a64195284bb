import type { Conversation } from './read-conversation.ts';

/**
 * The answers of a fake model. A rule is chosen by the last message of the user, a step of it by how many rounds of tool
 * output followed: both stand in the request, so the server remembers nothing of a conversation, a client that asks
 * again gets the same answer, and parallel conversations do not interfere.
 */
export interface Scenario {
  /** The first that matches counts. */
  readonly rules?: readonly Rule[];
  /** For what no rule matches; says `ok` when it is not given. */
  readonly otherwise?: readonly Step[];
}

export interface Rule {
  readonly when: RegExp;
  /** The last one is repeated. */
  readonly steps: readonly Step[];
}

/** One answer of the model. Its parts come in the order of these fields. */
export interface Step {
  /** Before anything is sent. */
  readonly delayMs?: number;
  /** Of the answer, such as `x-codex-primary-used-percent`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly reasoning?: Said;
  /** Sent word by word. */
  readonly message?: Said;
  /** Sent in these pieces instead. */
  readonly pieces?: readonly string[];
  /** Before each piece. */
  readonly pieceDelayMs?: number;
  readonly calls?: readonly ToolCall[];
  readonly usage?: Partial<FakeUsage>;
  readonly fault?: Fault;
  /** The number of requests for this step that have the fault; later ones get the step without it. By default all have it. */
  readonly failTimes?: number;
}

/** A text, or one made from the request. */
export type Said = string | ((conversation: Conversation) => string);

export type ToolCall =
  | {
      readonly name: string;
      /** Of an MCP server: `mcp__` and its name. */
      readonly namespace?: string;
      /** A string is sent as it is, be it JSON or not. */
      readonly arguments: Readonly<Record<string, unknown>> | string;
    }
  /** A tool that takes text, such as `apply_patch`. */
  | { readonly custom: string; readonly input: string };

export interface FakeUsage {
  readonly input: number;
  /** Of the input. */
  readonly cached: number;
  readonly output: number;
  /** Of the output. */
  readonly reasoning: number;
}

export type Fault =
  /** Instead of an answer. */
  | { readonly kind: 'http'; readonly status: number; readonly body?: unknown }
  /** After what was said, `response.failed` with this error. */
  | { readonly kind: 'failed'; readonly code: string; readonly message: string }
  /** After what was said, `response.incomplete` for this reason. */
  | { readonly kind: 'incomplete'; readonly reason: string }
  /** After the message the connection is cut. */
  | { readonly kind: 'cut' }
  /** After the message nothing more comes, and the connection stays. */
  | { readonly kind: 'hang' };

/** A shell command as the ordinary tool of Codex takes it. */
export function shell(cmd: string, more: Readonly<Record<string, unknown>> = {}): ToolCall {
  return { name: 'exec_command', arguments: { cmd, ...more } };
}
