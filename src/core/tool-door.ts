/**
 * What an agent may call, bound to its run. `tools/` opens it, a backend in `agent/` only carries the calls, each in its
 * own protocol.
 */
export interface ToolDoor {
  readonly tools: readonly ToolDescription[];
  /** Never rejects: a failure is an answer. */
  call(name: string, input: unknown): Promise<ToolAnswer>;
}

export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export interface ToolAnswer {
  readonly success: boolean;
  /** Text for the agent; on failure what went wrong and what is allowed. */
  readonly output: string;
}
