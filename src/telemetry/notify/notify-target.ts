import { createHash } from 'node:crypto';
import type { NotifyCause } from '../../core/notify/notify-cause.ts';
import type { NotifyTarget, Settings } from '../../core/settings.ts';
import { Secret } from '../../core/text/secret.ts';

/** The targets of the file, and the tracker where it takes comments. */
export function targetsIn({ notify, tracker }: Pick<Settings, 'notify' | 'tracker'>): readonly NotifyTarget[] {
  return tracker.comments
    ? [...notify.targets, { kind: 'tracker', events: ['held', 'limit_reached'] }]
    : notify.targets;
}

/** On a tracker Baton speaks only of issues that it worked on, and only on the issue itself. */
export function isFor(target: NotifyTarget, { event, issue, runId }: NotifyCause): boolean {
  return target.events.includes(event) && (target.kind !== 'tracker' || (issue !== null && runId !== null));
}

/** The name of a target in the store. It depends only on the address, not on the position in the file. */
export function targetId(target: NotifyTarget): string {
  const digest = createHash('sha256').update(revealed(target)).digest('hex').slice(0, 16);
  return `${target.kind}:${digest}`;
}

/** For people: `slack at hooks.slack.com`. */
export function targetLabel(target: NotifyTarget): string {
  if (target.kind === 'command' || target.kind === 'tracker') return target.kind;
  return `${target.kind} at ${URL.parse(target.url.reveal())?.host ?? 'an invalid address'}`;
}

/** The text of a command, also from a variable. */
export function commandOf({ run }: Extract<NotifyTarget, { readonly kind: 'command' }>): string {
  return run instanceof Secret ? run.reveal() : run;
}

function revealed(target: NotifyTarget): string {
  if (target.kind === 'tracker') return '';
  return target.kind === 'command' ? commandOf(target) : target.url.reveal();
}
