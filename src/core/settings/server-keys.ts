import { setting } from './setting.ts';

/** The section `server`: the API and the dashboard. */
export const serverKeys = {
  enabled: setting('boolean', true, 'restart', 'guarded', {
    description:
      'Whether Baton listens on a port. `false`: no dashboard and no API over HTTP, unless `--port` is given; the command line and the tools of the agents work as always.',
  }),
  port: setting('port_number', null, 'restart', 'guarded', {
    description:
      'Port of the API and the dashboard; 0: any free port. `--port` takes precedence. With several workflow files, the first one counts.',
    defaultText: 'the port of the last start, if it is free',
  }),
  host: setting('non_blank_text', '127.0.0.1', 'restart', 'guarded', {
    description: 'Address to listen on. Every address except loopback needs tokens (`baton token create`).',
  }),
  allowed_hosts: setting('name_list', [], 'restart', 'guarded', {
    description: 'Host names under which clients reach Baton when it does not listen on loopback.',
  }),
};

/** The section `observability`: the view in the terminal. */
export const observabilityKeys = {
  dashboard_enabled: setting('boolean', true, 'restart', 'open', {
    description: 'Whether `baton start` shows the view of `baton top` on a terminal.',
  }),
  refresh_ms: setting('positive_integer', 500, 'restart', 'open', {
    description: 'How often Baton redraws that view, at most four times a second.',
  }),
};

/** The section `notify`: who gets a message when something needs a person's attention. */
export const notifyKeys = {
  targets: setting('target_list', [], 'next message', 'guarded', {
    description: 'Who gets messages: `{kind: webhook, url, secret}`, `{kind: slack, url}` or `{kind: command, run}`.',
    mayHoldSecret: true,
  }),
  quiet_hours: setting('quiet_hours', null, 'next message', 'open', {
    description:
      'Hours in which Baton sends no messages. Same format as `polling.quiet_hours`; it works in every polling mode.',
  }),
  time_zone: setting('time_zone', null, 'next message', 'open', {
    description: 'The time zone of these quiet hours.',
    defaultText: 'the value of `polling.time_zone`',
  }),
  even_in_quiet_hours: setting('boolean', false, 'next message', 'open', {
    description: 'Whether Baton sends `unhealthy` messages in quiet hours too.',
  }),
};

const noRemoteHosts = 'Baton cannot work on other machines over SSH yet';

/** Keys of Symphony that Baton checks but does not support, by section. */
export const unsupportedKeys = {
  worker: {
    ssh_hosts: setting('text_list', [], 'never', 'open', {
      description:
        'Other machines to work on. Baton works only on this machine, so every list that is not empty is an error.',
      unsupported: { severity: 'error', because: noRemoteHosts },
    }),
    max_concurrent_agents_per_host: setting('positive_integer', null, 'never', 'open', {
      description: 'A limit for each machine. Baton ignores it with a warning.',
      unsupported: { severity: 'warning', because: noRemoteHosts },
    }),
  },
  observability: {
    render_interval_ms: setting('positive_integer', null, 'never', 'open', {
      description: 'How often the view is redrawn. Baton ignores it with a warning: it redraws only what changed.',
      unsupported: { severity: 'warning', because: 'the view redraws only changes, as often as refresh_ms says' },
    }),
  },
};
