import { z } from 'zod';
import { BatonError } from '../core/baton-error.ts';
import type { ToolDescription } from '../core/tool-door.ts';
import type { Tracker } from '../tracker/tracker.ts';

/** What a tool may reach: one run, its issue, its tracker. Fixed when the session starts and never widened. */
export interface ToolContext {
  readonly runId: string;
  readonly issueId: string;
  readonly tracker: Tracker;
  readonly onProgress: (text: string) => void;
  /** The run moves its own issue to this state. */
  readonly onMove: (state: string) => void;
}

/** One thing an agent may ask Baton to do. */
export interface Tool extends ToolDescription {
  /** Not offered where the tracker is read-only. */
  readonly changesTracker: boolean;
  /** Checks the input, then acts. Rejects with a BatonError that tells the agent what is allowed. */
  call(input: unknown, context: ToolContext): Promise<string>;
}

interface ToolDefinition<Input> {
  readonly name: string;
  readonly description: string;
  readonly changesTracker: boolean;
  readonly input: z.ZodType<Input>;
  run(input: Input, context: ToolContext): Promise<string>;
}

/** Makes a tool of its definition: the schema describes the input to the agent, and checks it. */
export function defineTool<Input>(definition: ToolDefinition<Input>): Tool {
  const { name, description, changesTracker } = definition;
  return {
    name,
    description,
    changesTracker,
    inputSchema: z.toJSONSchema(definition.input, { io: 'input' }),
    call: async (input, context) => {
      const parsed = definition.input.safeParse(input ?? {});
      if (parsed.success) return definition.run(parsed.data, context);
      const what = z.prettifyError(parsed.error).replaceAll('\n', ' ');
      throw new BatonError('invalid_tool_arguments', `The arguments of ${name} are not usable: ${what}`);
    },
  };
}
