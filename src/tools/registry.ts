import { BatonError, toBatonError } from '../core/baton-error.ts';
import type { ToolDoor } from '../core/tool-door.ts';
import { comment } from './comment.ts';
import { getIssue } from './get-issue.ts';
import { reportProgress } from './report-progress.ts';
import type { Tool, ToolContext } from './tool.ts';
import { updateIssueStatus } from './update-issue-status.ts';

const tools: readonly Tool[] = [getIssue, comment, updateIssueStatus, reportProgress];

/** Opens the one registry of tools for one run. */
export function openToolDoor(context: ToolContext): ToolDoor {
  const offered = tools.filter((tool) => !tool.changesTracker || context.tracker.changes !== null);
  return {
    tools: offered.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    call: async (name, input) => {
      try {
        const tool = offered.find((candidate) => candidate.name === name);
        if (tool === undefined) throw unknownTool(name, offered);
        return { success: true, output: await tool.call(input, context) };
      } catch (thrown) {
        return { success: false, output: JSON.stringify({ error: toBatonError(thrown) }) };
      }
    },
  };
}

function unknownTool(name: string, offered: readonly Tool[]): BatonError {
  const names = offered.map((tool) => tool.name);
  return new BatonError('unsupported_tool_call', `There is no tool "${name}"; there are: ${names.join(', ')}.`, {
    details: { supportedTools: names },
  });
}
