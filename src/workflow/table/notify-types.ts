import { z } from 'zod';
import { notifyEvents } from '../../core/notify/notify-cause.ts';
import { flag, type SettingType } from './setting-types.ts';

const events = z.array(z.enum(notifyEvents)).min(1).optional();
const words = z.string().regex(/\S/);
const address = { url: words, events, allow_insecure_endpoint: flag.schema.optional() };

const target = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('webhook'), secret: words, ...address }),
  z.strictObject({ kind: z.literal('slack'), ...address }),
  z.strictObject({ kind: z.literal('command'), run: words, events }),
]);

/** A target as the file has it: references are not looked up yet. */
export type WrittenTarget = z.output<typeof target>;

export const targetList: SettingType<WrittenTarget[]> = {
  schema: z.array(target),
  name: 'target_list',
  allowed: 'a list of targets, such as `[{kind: slack, url: $SLACK_URL}]`',
  allowedEntry:
    `as in \`{kind: webhook, url: $HOOK_URL, secret: $HOOK_SECRET}\`, \`{kind: slack, url: $SLACK_URL}\` or ` +
    `\`{kind: command, run: notify-send Baton}\`, each with \`events\` of ${notifyEvents.join(', ')}`,
};
