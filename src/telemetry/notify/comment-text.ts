import type { NotifyCause } from '../../core/notify/notify-cause.ts';
import { certainTime } from '../../core/text/time-text.ts';

/** The comment on a held issue in its tracker. Its first line is different for each hold. */
export function commentText({ reason, since, actions }: NotifyCause): string {
  const [best] = actions;
  return [
    `Baton has held this issue since ${certainTime(since ?? 0)}. It waits for a person.`,
    `> ${reason}`,
    ...(best === undefined ? [] : [`To continue: \`${best}\``]),
  ].join('\n\n');
}
