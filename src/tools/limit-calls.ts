import { BatonError } from '../core/baton-error.ts';
import type { ToolSet } from '../core/tool-set.ts';
import { failureAnswer } from './failure.ts';

/**
 * How much a run may do with its tools, over all transports. Each is more than a sane agent needs; each call may cost a
 * request to the tracker, a line in the log or space in the store.
 */
export const toolBounds = {
  /** Calls at a time. */
  callsAtOnce: 100,
  callsPerRun: 2_000,
  commentsPerRun: 100,
  commentBytesPerRun: 1_024 * 1_024,
} as const;

/** The same tool set within its bounds. A call beyond them gets a refusal as its answer. */
export function limitCalls(toolSet: ToolSet): ToolSet {
  const { callsAtOnce, callsPerRun, commentsPerRun, commentBytesPerRun } = toolBounds;
  let [inProgress, calls, comments, commentBytes] = [0, 0, 0, 0];
  return {
    tools: toolSet.tools,
    call: async (name, input, signal) => {
      if (inProgress >= callsAtOnce)
        return tooMany(`${callsAtOnce} calls in progress`, 'Wait for their answers, then call the tool again.');
      if (calls >= callsPerRun) return tooMany(`made ${callsPerRun} calls`, 'Finish without the tools of Baton.');
      calls += 1;
      if (name === 'comment') {
        comments += 1;
        commentBytes += bodyBytes(input);
        if (comments > commentsPerRun || commentBytes > commentBytesPerRun)
          return tooMany(
            `written ${commentsPerRun} comments or ${commentBytesPerRun} bytes of comments`,
            'Finish without another comment: put what is left into files of the workspace.',
          );
      }
      inProgress += 1;
      try {
        return await toolSet.call(name, input, signal);
      } finally {
        inProgress -= 1;
      }
    },
  };
}

/** Any other input is refused by the tool itself. */
function bodyBytes(input: unknown): number {
  if (typeof input !== 'object' || input === null || !('body' in input) || typeof input.body !== 'string') return 0;
  return Buffer.byteLength(input.body);
}

function tooMany(what: string, nextStep: string): ReturnType<typeof failureAnswer> {
  return failureAnswer(new BatonError('request_limited', `This run already has ${what}.`, { nextStep }));
}
