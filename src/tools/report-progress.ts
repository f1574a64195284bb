import { z } from 'zod';
import { defineTool } from './tool.ts';

/** Tells the people who watch what the agent is doing. */
export const reportProgress = defineTool({
  name: 'report_progress',
  description: 'Tell the people who watch, in one line, what you are doing now.',
  changesTracker: false,
  input: z.strictObject({ text: z.string().trim().min(1).max(1_000) }),
  run: async ({ text }, { onProgress }) => {
    onProgress(text);
    return 'Noted.';
  },
});
