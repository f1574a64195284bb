import { z } from 'zod';
import { BatonError } from '../core/baton-error.ts';
import { defineTool } from './tool.ts';

/** The issue of the run as the tracker has it now. */
export const getIssue = defineTool({
  name: 'get_issue',
  description: 'The ticket you work on, as it is in the tracker now.',
  changesTracker: false,
  input: z.strictObject({}),
  run: async (_input, { tracker, issueId }, ask) => {
    const [issue] = await tracker.fetchByIds([issueId], ask);
    if (issue === undefined)
      throw new BatonError('tracker_issue_not_found', `The issue "${issueId}" is not in the tracker any more.`);
    return JSON.stringify(issue);
  },
});
