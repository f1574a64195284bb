import type { NotifyCause } from '../../core/notify/notify-cause.ts';
import { certainTime } from '../../core/text/time-text.ts';

/** What a comment on the tracker tells about a held issue. Its first line is different for each hold. */
export function commentText({ reason, since, actions }: NotifyCause): string {
  const [best] = actions;
  return [
    `Baton holds this issue since ${certainTime(since ?? 0)} and waits for a person.`,
    `> ${reason}`,
    ...(best === undefined ? [] : [`To continue: \`${best}\``]),
  ].join('\n\n');
}
