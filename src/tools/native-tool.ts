import type { NativeTool } from '../tracker/tracker.ts';
import { type Tool, timeLimitMs } from './tool.ts';

/** A tool of the tracker's own as one of the registry: it keeps its name, its schema and its words. */
export function fromNative(native: NativeTool): Tool {
  const { name, description, inputSchema } = native;
  return {
    name,
    description,
    inputSchema,
    timeLimitMs,
    // What it is asked is in the tracker's language: it may be a change.
    changesTracker: true,
    call: async (input, { onMove, onNotMoved }, ask) => {
      if (native.mayChange?.(input) !== true) return native.call(input, ask);
      onMove(null);
      const answer = await native.call(input, ask);
      if (!answer.success) onNotMoved();
      return answer;
    },
  };
}
