import { setting } from './setting.ts';
import { flag, nameList, nonBlankText, portNumber, positiveInteger } from './setting-types.ts';

/** How Baton is looked at: the API with its dashboard, and the view in the terminal. */
export const serverTable = {
  'server.port': setting(portNumber, null, 'Port of the API and the dashboard; 0: any that is free.', {
    defaultText: 'the one it had last time, if it is free',
    effective: (settings) => settings.server.port,
  }),
  'server.host': setting(
    nonBlankText,
    '127.0.0.1',
    'Address to listen on; any but the loopback address needs tokens.',
    {
      effective: (settings) => settings.server.host,
    },
  ),
  'server.allowed_hosts': setting(
    nameList,
    [],
    'Names under which others reach it, where it is not the loopback address.',
    {
      effective: (settings) => settings.server.allowedHosts,
    },
  ),
  'observability.dashboard_enabled': setting(
    flag,
    true,
    'Whether `baton start` shows the view of `baton top` on a terminal.',
    {
      effective: (settings) => settings.observability.isViewShown,
    },
  ),
  'observability.refresh_ms': setting(
    positiveInteger,
    500,
    'How often that view is drawn anew, at most four times a second.',
    {
      effective: (settings) => settings.observability.refreshMs,
    },
  ),
  'observability.render_interval_ms': setting(positiveInteger, null, 'No effect: only what changed is drawn.', {
    unsupported: { severity: 'warning', because: 'the view draws only what changed, as often as refresh_ms says' },
  }),
};
