import { createHash } from 'node:crypto';
import type { NotifyTarget } from '../../core/settings.ts';
import { Secret } from '../../core/text/secret.ts';

/** The name of a target in the store: the same for as long as it is the same place, wherever it stands in the file. */
export function targetId(target: NotifyTarget): string {
  const digest = createHash('sha256').update(revealed(target)).digest('hex').slice(0, 16);
  return `${target.kind}:${digest}`;
}

/** For people: `slack at hooks.slack.com`. */
export function targetLabel(target: NotifyTarget): string {
  if (target.kind === 'command') return 'command';
  return `${target.kind} at ${URL.parse(target.url.reveal())?.host ?? 'an address that is none'}`;
}

/** The text of a command, wherever it came from. */
export function commandOf({ run }: Extract<NotifyTarget, { readonly kind: 'command' }>): string {
  return run instanceof Secret ? run.reveal() : run;
}

function revealed(target: NotifyTarget): string {
  return target.kind === 'command' ? commandOf(target) : target.url.reveal();
}
