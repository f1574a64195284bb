import type { NotifyCause, NotifyEvent, NotifyIssue } from '../../core/notify/notify-cause.ts';

/** One message to one target, about one cause or about several. */
export interface NotifyMessage {
  /** The same for every try. */
  readonly id: string;
  readonly project: string;
  /** At least one; the one that was seen first is the first. */
  readonly causes: readonly [NotifyCause, ...NotifyCause[]];
  readonly dashboardUrl: string | null;
  /** An earlier try may have arrived. */
  readonly isRepeated?: boolean;
}

/** How many causes a message about several lists; the others are counted. */
export const mostListed = 10;

/** The payload for a webhook, and for the input of a command; docs/notifications.md describes it, and a test compares them. */
export type NotifyPayload = PayloadHead & (CausePayload | SeveralPayload);

interface PayloadHead {
  /** The version of this format. It grows when a field changes its meaning or is removed, not when one is added. */
  readonly version: 1;
  readonly id: string;
  readonly project: string;
  readonly dashboard_url: string | null;
}

interface CausePayload {
  readonly event: NotifyEvent;
  readonly issue: NotifyIssue | null;
  readonly run_id: string | null;
  readonly code: string;
  readonly reason: string;
  /** UTC, with milliseconds. */
  readonly since: string | null;
  readonly actions: readonly string[];
}

interface SeveralPayload {
  readonly event: 'several';
  readonly count: number;
  readonly notifications: readonly CausePayload[];
  /** How many of `count` are not in `notifications`. */
  readonly more: number;
}

export function payloadOf({ id, project, causes, dashboardUrl }: NotifyMessage): NotifyPayload {
  const [first, ...others] = causes;
  const about: CausePayload | SeveralPayload =
    others.length === 0
      ? causePayload(first)
      : {
          event: 'several',
          count: causes.length,
          notifications: causes.slice(0, mostListed).map(causePayload),
          more: Math.max(0, causes.length - mostListed),
        };
  return { version: 1, id, project, ...about, dashboard_url: wholeAddress(dashboardUrl) };
}

/** Adds the slash that ends the address of a host. */
function wholeAddress(address: string | null): string | null {
  return address === null ? null : (URL.parse(address)?.href ?? null);
}

function causePayload({ event, issue, runId, code, reason, since, actions }: NotifyCause): CausePayload {
  return { event, issue, run_id: runId, code, reason, since: timeText(since), actions };
}

/** An invalid time must not keep a message from being sent. */
function timeText(at: number | null): string | null {
  const time = at === null ? null : new Date(at);
  return time === null || Number.isNaN(time.getTime()) ? null : time.toISOString();
}
