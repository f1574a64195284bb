import { z } from 'zod';
import { defineTool } from './tool.ts';
import { changesOf } from './tracker-changes.ts';

/** Moves the issue of the run to another state. */
export const updateIssueStatus = defineTool({
  name: 'update_issue_status',
  description: 'Move the ticket you work on to another state of the tracker, for instance when you are done with it.',
  changesTracker: true,
  input: z.strictObject({ status: z.string().trim().min(1).max(200) }),
  run: async ({ status }, { tracker, issueId, runId, onMove }, ask) => {
    // Told before the tracker changes, so that nobody who sees the change can take it for somebody else's.
    onMove(status);
    const moved = await changesOf(tracker).moveIssue(issueId, status, { kind: 'run', runId }, ask);
    return `${moved.identifier} is now in "${moved.state}".`;
  },
});
