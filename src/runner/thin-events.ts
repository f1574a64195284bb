import type { AgentEvent, AgentEventName } from '../agent/agent.ts';
import { mergeWindows } from '../core/account/account.ts';

/** More than a person can follow, and too few to slow a daemon down. */
const mostASecond = 500;

/** Events that are not essential; an agent may send any number of them. All other events are always passed on. */
const chatter: ReadonlySet<AgentEventName> = new Set(['notification', 'other_message', 'malformed']);

/**
 * Passes on the events of an agent, but at most `mostASecond` per second: an agent that prints as fast as it can must
 * not fill the memory, the store and the event loop of the daemon. Events that were left out are counted and reported
 * with the next event, and none of their running totals and quota windows is lost.
 */
export function thinEvents(report: (event: AgentEvent) => void): (event: AgentEvent) => void {
  let second = Number.NaN;
  let sent = 0;
  let leftOut = 0;
  let numbers: Numbers = {};
  return (event) => {
    const now = Math.floor(event.at / 1000);
    if (now !== second) {
      second = now;
      sent = 0;
    }
    if (chatter.has(event.name) && sent >= mostASecond) {
      leftOut += 1;
      numbers = withNumbersOf(numbers, event);
      return;
    }
    if (leftOut > 0) {
      const summary = `${leftOut} more messages were left out: they came too fast`;
      report({ name: 'other_message', at: event.at, pid: event.pid, summary, ...numbers });
      leftOut = 0;
      numbers = {};
    }
    sent += 1;
    report(event);
  };
}

type Numbers = Pick<AgentEvent, 'usage' | 'quota' | 'rateLimits'>;

/** The latest of each number. */
function withNumbersOf(before: Numbers, { usage, quota, rateLimits }: AgentEvent): Numbers {
  return {
    ...before,
    ...(usage === undefined ? {} : { usage }),
    ...(quota === undefined ? {} : { quota: mergeWindows(before.quota ?? [], quota) }),
    ...(rateLimits === undefined ? {} : { rateLimits }),
  };
}
