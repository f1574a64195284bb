/**
 * The tools that an agent may call, bound to its run. `tools/` makes the set; a backend in `agent/` only carries the
 * calls, each in its own protocol.
 */
export interface ToolSet {
  readonly tools: readonly ToolDescription[];
  /** Never rejects: a failure is an answer. The signal aborts when the caller no longer waits for the answer. */
  call(name: string, input: unknown, signal?: AbortSignal): Promise<ToolAnswer>;
}

/** Where a run reaches its tools over HTTP (MCP, streamable). */
export interface ToolAddress {
  readonly url: string;
  /** The bearer token of this run; refused when the run has ended. */
  readonly token: string;
}

/**
 * The tool sets of live runs over HTTP. A run is admitted with its tool set and gets an address with a token of its
 * own; `dismiss` revokes the token. Tokens are unguessable, are compared in constant time and are never written down.
 */
export interface ToolHost {
  admit(runId: string, toolSet: ToolSet): ToolAddress;
  dismiss(runId: string): void;
}

export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export interface ToolAnswer {
  readonly success: boolean;
  /** Text for the agent; on failure the cause and the allowed values. */
  readonly output: string;
}
