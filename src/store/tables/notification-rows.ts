import { type NotifyCause, type NotifyIssue, notifyEvents } from '../../core/notify/notify-cause.ts';
import { recordIn, textIn, valueFromText } from '../read-json.ts';
import type { Database } from '../schema.ts';
import type { StoredNotification } from './notifications.ts';

/** A row that somebody damaged is still a row: nobody is told again of what it was about. */
export function notificationFrom(row: Database['notifications']): StoredNotification {
  return {
    target: row.target,
    cause: causeFrom(row),
    firstSeenAt: row.first_seen_at,
    overAt: row.over_at,
    message: row.message,
    tries: row.tries,
    firstTryAt: row.first_try_at,
    nextTryAt: row.next_try_at,
    sentAt: row.sent_at,
    error: row.error,
  };
}

/** What a row keeps of its cause beside key and nature. */
export function causeText({ key: _key, nature: _nature, ...facts }: NotifyCause): string {
  return JSON.stringify(facts);
}

function causeFrom({ cause: key, nature, cause_json }: Database['notifications']): NotifyCause {
  const found = recordIn(valueFromText(cause_json));
  const actions = Array.isArray(found.actions) ? found.actions : [];
  return {
    key,
    nature,
    event: notifyEvents.find((event) => event === found.event) ?? 'needs_you',
    issue: issueFrom(found.issue),
    runId: textIn(found.runId),
    code: textIn(found.code) ?? 'unknown',
    reason: textIn(found.reason) ?? 'This could not be read.',
    since: typeof found.since === 'number' ? found.since : null,
    actions: actions.filter((line) => typeof line === 'string'),
  };
}

function issueFrom(value: unknown): NotifyIssue | null {
  const { id, identifier, title, url } = recordIn(value);
  if (typeof id !== 'string' || typeof identifier !== 'string') return null;
  return { id, identifier, title: textIn(title), url: textIn(url) };
}
