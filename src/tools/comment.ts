import { z } from 'zod';
import { defineTool } from './tool.ts';
import { changesOf } from './tracker-changes.ts';

/** Says something on the issue of the run. */
export const comment = defineTool({
  name: 'comment',
  description: 'Add a comment to the ticket you work on.',
  changesTracker: true,
  input: z.strictObject({ body: z.string().trim().min(1).max(65_536) }),
  run: async ({ body }, { tracker, issueId, runId }, ask) => {
    await changesOf(tracker).addComment(issueId, body, { kind: 'run', runId }, ask);
    return 'The comment was added.';
  },
});
