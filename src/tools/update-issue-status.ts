import { z } from 'zod';
import { toBatonError } from '../core/baton-error.ts';
import { defineTool } from './tool.ts';
import { changesOf } from './tracker-changes.ts';

/** Moves the issue of the run to another state. */
export const updateIssueStatus = defineTool({
  name: 'update_issue_status',
  description: 'Move the ticket you work on to another state of the tracker, for instance when you are done with it.',
  changesTracker: true,
  input: z.strictObject({ status: z.string().trim().min(1).max(200) }),
  run: async ({ status }, { tracker, issueId, runId, onMove, onNotMoved }, ask) => {
    // Told before the tracker changes, so that nobody who sees the change can take it for somebody else's.
    onMove(status);
    try {
      const moved = await changesOf(tracker).moveIssue(issueId, status, { kind: 'run', runId }, ask);
      return `${moved.identifier} is now in "${moved.state}".`;
    } catch (thrown) {
      // One whose answer was lost may have been made all the same.
      if (!toBatonError(thrown).retryable) onNotMoved();
      throw thrown;
    }
  },
});
