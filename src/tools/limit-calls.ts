import { BatonError } from '../core/baton-error.ts';
import type { ToolSet } from '../core/tool-set.ts';
import { failureAnswer } from './failure.ts';

/** More calls than a sane agent makes at a time; each may cost a request to the tracker. */
const mostCalls = 100;

/**
 * The same tool set with at most `mostCalls` calls at a time, over all transports. One more call gets a refusal as its
 * answer.
 */
export function limitCalls(toolSet: ToolSet): ToolSet {
  let inProgress = 0;
  return {
    tools: toolSet.tools,
    call: async (name, input, signal) => {
      if (inProgress >= mostCalls) return failureAnswer(tooMany());
      inProgress += 1;
      try {
        return await toolSet.call(name, input, signal);
      } finally {
        inProgress -= 1;
      }
    },
  };
}

function tooMany(): BatonError {
  return new BatonError('request_limited', `This run already has ${mostCalls} calls in progress.`, {
    nextStep: 'Wait for their answers, then call the tool again.',
  });
}
