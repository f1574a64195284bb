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
    call: (input, _context, ask) => native.call(input, ask),
  };
}
