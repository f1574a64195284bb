import type { AgentEvent, AgentEventName, TokenUsage } from '../agent/agent.ts';
import { mergeWindows, type QuotaWindow } from '../core/account/account.ts';

/** More than a person could follow, and less than a daemon notices. */
const mostASecond = 500;

/** What an agent says beside its work; there may be any amount of it. Everything else is always told. */
const chatter: ReadonlySet<AgentEventName> = new Set(['notification', 'other_message', 'malformed']);

/**
 * Tells on what an agent says, but not more than so many events a second: an agent that prints as fast as it can must not
 * fill the memory, the store and the event loop of the daemon. What was left out is counted and told with the next event
 * that is told, and no running total and no quota window in it is lost.
 */
export function thinEvents(tell: (event: AgentEvent) => void): (event: AgentEvent) => void {
  let second = Number.NaN;
  let told = 0;
  let leftOut = 0;
  let usage: TokenUsage | undefined;
  let quota: readonly QuotaWindow[] = [];
  return (event) => {
    const now = Math.floor(event.at / 1000);
    if (now !== second) {
      second = now;
      told = 0;
    }
    if (chatter.has(event.name) && told >= mostASecond) {
      leftOut += 1;
      usage = event.usage ?? usage;
      if (event.quota !== undefined) quota = mergeWindows(quota, event.quota);
      return;
    }
    if (leftOut > 0) {
      const summary = `${leftOut} more messages were left out: they came too fast`;
      tell({
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
    told += 1;
    tell(event);
  };
}
