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

/**
 * The same tool set within its bounds. A call beyond them gets a refusal as its answer. `writesIn` says how many comments a
 * call may write, whichever tool it uses.
 */
export function limitCalls(toolSet: ToolSet, writesIn: (name: string, input: unknown) => number): ToolSet {
  const { callsAtOnce, callsPerRun, commentsPerRun, commentBytesPerRun } = toolBounds;
  let [inProgress, calls, comments, commentBytes] = [0, 0, 0, 0];
  return {
    tools: toolSet.tools,
    call: async (name, input, signal) => {
      if (inProgress >= callsAtOnce)
        return tooMany(`${callsAtOnce} calls in progress`, 'Wait for their answers, then call the tool again.');
      if (calls >= callsPerRun) return tooMany(`made ${callsPerRun} calls`, 'Finish without the tools of Baton.');
      calls += 1;
      const writes = writesIn(name, input);
      if (writes > 0) {
        comments += writes;
        commentBytes += bytesOf(input);
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

/** An input that cannot be written as JSON, such as one nested too deep, is refused by the tool itself. */
function bytesOf(input: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(input) ?? '');
  } catch {
    return 0;
  }
}

function tooMany(what: string, nextStep: string): ReturnType<typeof failureAnswer> {
  return failureAnswer(new BatonError('request_limited', `This run already has ${what}.`, { nextStep }));
}
