import { expect, it } from 'vitest';
import type { ToolSet } from '../../src/core/tool-set.ts';
import { script, stageRun } from './stage-run.ts';

it('the tools of a run are one door, in the protocol of its agent and over HTTP: a limit counts both', async () => {
  const doors: ToolSet[] = [];
  const staged = stageRun(script('move Done'), {
    toolHost: {
      admit: (_runId, door) => {
        doors.push(door);
        return { url: 'http://127.0.0.1:1/mcp', token: 'token-of-the-run' };
      },
      dismiss: () => {},
    },
    onSessionRequest: ({ tools }) => void doors.push(tools),
  });
  expect(await staged.end()).toMatchObject({ end: 'succeeded' });
  expect(doors).toHaveLength(2);
  expect(doors[0]).toBe(doors[1]);
});
