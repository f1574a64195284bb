import { quietHoursText } from '../../core/cadence/quiet-hours.ts';
import type { NotifyTarget } from '../../core/settings.ts';
import { Secret } from '../../core/text/secret.ts';
import { targetList } from './notify-types.ts';
import { setting } from './setting.ts';
import { flag, quietHours, timeZoneName } from './setting-types.ts';

/** The keys of the section `notify`: who is told of what, and when nobody is. */
export const notifyTable = {
  'notify.targets': setting(targetList, [], 'Who is told when something happens that a person should know of.', {
    effective: ({ notify }) => notify.targets.map(describeTarget),
  }),
  'notify.quiet_hours': setting(quietHours, null, 'When nobody is told anything, such as `22:00-06:00`.', {
    effective: ({ notify }) => (notify.quietHours === null ? null : quietHoursText(notify.quietHours)),
  }),
  'notify.time_zone': setting(timeZoneName, null, 'The time zone of these quiet hours, such as `Europe/Berlin`.', {
    defaultText: 'that of polling.time_zone',
    effective: ({ notifyTimeZone }) => notifyTimeZone,
  }),
  'notify.even_in_quiet_hours': setting(flag, false, 'Whether `unhealthy` is told in quiet hours too.', {
    effective: ({ notify }) => notify.evenInQuietHours,
  }),
};

/** For people: nothing of it is a secret. */
function describeTarget(target: NotifyTarget): unknown {
  const { kind, events } = target;
  if (kind === 'command') {
    return { kind, run: target.run instanceof Secret ? target.run.toJSON() : target.run, events };
  }
  const shown = { kind, url: target.url.toJSON(), events, allow_insecure_endpoint: target.allowInsecure };
  return kind === 'webhook' ? { ...shown, secret: target.secret.toJSON() } : shown;
}
