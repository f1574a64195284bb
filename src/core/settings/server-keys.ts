import { setting } from './setting.ts';

/** The section `server`: the API and the dashboard. */
export const serverKeys = {
  port: setting('port_number', null, 'restart', 'guarded', {
    description:
      'Port of the API and the dashboard; 0: any that is free. `--port` wins. Of several files the first counts.',
    defaultText: 'the one it had last time, if it is free',
  }),
  host: setting('non_blank_text', '127.0.0.1', 'restart', 'guarded', {
    description: 'Address to listen on; any but the loopback address needs tokens (`baton token create`).',
  }),
  allowed_hosts: setting('name_list', [], 'restart', 'guarded', {
    description: 'Names under which others reach it, where it is not the loopback address.',
  }),
};

/** The section `observability`: the view in the terminal. */
export const observabilityKeys = {
  dashboard_enabled: setting('boolean', true, 'restart', 'open', {
    description: 'Whether `baton start` shows the view of `baton top` on a terminal.',
  }),
  refresh_ms: setting('positive_integer', 500, 'restart', 'open', {
    description: 'How often that view is drawn again, at most four times a second.',
  }),
};

/** The section `notify`: who gets a message when something happens that a person should know of. */
export const notifyKeys = {
  targets: setting('target_list', [], 'next message', 'guarded', {
    description: 'Who gets messages: `{kind: webhook, url, secret}`, `{kind: slack, url}` or `{kind: command, run}`.',
    mayHoldSecret: true,
  }),
  quiet_hours: setting('quiet_hours', null, 'next message', 'open', {
    description: 'Hours in which nothing is sent. Read as `polling.quiet_hours`, but in any mode.',
  }),
  time_zone: setting('time_zone', null, 'next message', 'open', {
    description: 'The time zone of these quiet hours.',
    defaultText: 'that of `polling.time_zone`',
  }),
  even_in_quiet_hours: setting('boolean', false, 'next message', 'open', {
    description: 'Whether `unhealthy` is sent in quiet hours too.',
  }),
};

const noRemoteHosts = 'work on other machines over SSH does not exist yet';

/** Keys of Symphony that are checked and have no effect, by section. */
export const unsupportedKeys = {
  worker: {
    ssh_hosts: setting('text_list', [], 'never', 'open', {
      description: 'Other machines to work on. Anything but an empty list is an error.',
      unsupported: { severity: 'error', because: noRemoteHosts },
    }),
    max_concurrent_agents_per_host: setting('positive_integer', null, 'never', 'open', {
      description: 'Limit for each machine. Warning.',
      unsupported: { severity: 'warning', because: noRemoteHosts },
    }),
  },
  observability: {
    render_interval_ms: setting('positive_integer', null, 'never', 'open', {
      description: 'Only what changed is drawn. Warning.',
      unsupported: { severity: 'warning', because: 'the view draws only what changed, as often as refresh_ms says' },
    }),
  },
};
