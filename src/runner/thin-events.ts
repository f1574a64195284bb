import type { AgentEvent, AgentEventName, TokenUsage } from '../agent/agent.ts';
import { mergeWindows, type QuotaWindow } from '../core/account/account.ts';

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
  let usage: TokenUsage | undefined;
  let quota: readonly QuotaWindow[] = [];
  return (event) => {
    const now = Math.floor(event.at / 1000);
    if (now !== second) {
      second = now;
      sent = 0;
    }
    if (chatter.has(event.name) && sent >= mostASecond) {
      leftOut += 1;
      usage = event.usage ?? usage;
      if (event.quota !== undefined) quota = mergeWindows(quota, event.quota);
      return;
    }
    if (leftOut > 0) {
      const summary = `${leftOut} more messages were left out: they came too fast`;
      report({
        name: 'other_message',
        at: event.at,
        pid: event.pid,
        summary,
        ...(usage === undefined ? {} : { usage }),
        ...(quota.length === 0 ? {} : { quota }),
      });
      leftOut = 0;
      usage = undefined;
      quota = [];
    }
    sent += 1;
    report(event);
  };
}
