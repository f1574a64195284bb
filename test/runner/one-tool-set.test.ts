import { expect, it } from 'vitest';
import type { ToolSet } from '../../src/core/tool-set.ts';
import { script, stageRun } from './stage-run.ts';

it('the tools of a run are one set over both transports, so that one limit counts both', async () => {
  const toolSets: ToolSet[] = [];
  const staged = stageRun(script('move Done'), {
    toolHost: {
      admit: (_runId, toolSet) => {
        toolSets.push(toolSet);
        return { url: 'http://127.0.0.1:1/mcp', token: 'token-of-the-run' };
      },
      dismiss: () => {},
    },
    onSessionRequest: ({ tools }) => void toolSets.push(tools),
  });
  expect(await staged.end()).toMatchObject({ end: 'succeeded' });
  expect(toolSets).toHaveLength(2);
  expect(toolSets[0]).toBe(toolSets[1]);
});
