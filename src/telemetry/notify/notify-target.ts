import { createHash } from 'node:crypto';
import type { NotifyTarget } from '../../core/settings.ts';
import { Secret } from '../../core/text/secret.ts';

/** The name of a target in the store. It depends only on the address, not on the position in the file. */
export function targetId(target: NotifyTarget): string {
  const digest = createHash('sha256').update(revealed(target)).digest('hex').slice(0, 16);
  return `${target.kind}:${digest}`;
}

/** For people: `slack at hooks.slack.com`. */
export function targetLabel(target: NotifyTarget): string {
  if (target.kind === 'command') return 'command';
  return `${target.kind} at ${URL.parse(target.url.reveal())?.host ?? 'an invalid address'}`;
}

/** The text of a command, also from a variable. */
export function commandOf({ run }: Extract<NotifyTarget, { readonly kind: 'command' }>): string {
  return run instanceof Secret ? run.reveal() : run;
}

function revealed(target: NotifyTarget): string {
  return target.kind === 'command' ? commandOf(target) : target.url.reveal();
}
