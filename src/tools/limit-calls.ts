import { BatonError } from '../core/baton-error.ts';
import type { ToolDoor } from '../core/tool-door.ts';
import { failureAnswer } from './failure.ts';

/** More calls than a sane agent makes at a time; each may cost a request to the tracker. */
const mostCalls = 100;

/**
 * The same tool set with at most `mostCalls` calls at a time, over all transports. One more call gets a refusal as its
 * answer.
 */
export function limitCalls(door: ToolDoor): ToolDoor {
  let underWay = 0;
  return {
    tools: door.tools,
    call: async (name, input, signal) => {
      if (underWay >= mostCalls) return failureAnswer(tooMany());
      underWay += 1;
      try {
        return await door.call(name, input, signal);
      } finally {
        underWay -= 1;
      }
    },
  };
}

function tooMany(): BatonError {
  return new BatonError('request_limited', `More than ${mostCalls} calls of this run are under way.`, {
    nextStep: 'Wait for their answers, then call the tool again.',
  });
}
