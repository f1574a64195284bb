import { setting } from './setting.ts';

/** The section `tracker`; each kind adds its own keys under `tracker.provider`. */
export const trackerKeys = {
  kind: setting('text', null, 'next tick', 'guarded', {
    description: 'Which tracker the issues come from.',
    defaultText: 'none; required',
  }),
  active_states: setting('text_list', null, 'next tick', 'open', {
    description: 'States in which an issue is worked on.',
    defaultText: 'those of the kind',
  }),
  terminal_states: setting('text_list', null, 'next tick', 'open', {
    description: 'States in which an issue is over and its workspace may go.',
    defaultText: 'those of the kind',
  }),
  review_states: setting('text_list', null, 'next poll', 'open', {
    description:
      "States in which an issue waits for a person's review. They are only counted, for `agent.max_in_review`.",
    defaultText: 'those of the kind',
  }),
  required_labels: setting('text_list', [], 'next tick', 'guarded', {
    description: 'Labels an issue needs, all of them; upper and lower case are the same. A blank one matches no issue.',
  }),
  trusted_authors: setting('name_list', [], 'next run', 'guarded', {
    description:
      'Authors whose issues go into the prompt as they are: ids, e-mails or logins as the tracker has them; upper and lower case are the same. Text of all others is [fenced](#text-of-strangers).',
  }),
  provider: setting('map', {}, 'next tick', 'guarded', {
    description: 'What the tracker of this kind needs to know; see the tables below.',
    mayHoldSecret: true,
  }),
};

/** The section `project`. */
export const projectKeys = {
  name: setting('non_blank_text', null, 'restart', 'open', {
    description: 'The name under which the store keeps what belongs to this file.',
    defaultText: 'the name of the folder that holds the file',
  }),
};

/** The section `store`. */
export const storeKeys = {
  url: setting('text', null, 'restart', 'guarded', {
    description:
      'Where everything is kept: `sqlite:/path/file.db` or `postgres://…`. It may hold a password, so it is never shown. See [store](store.md).',
    defaultText: 'the variable `BATON_DATABASE_URL`, else a SQLite file in the state folder',
    mayHoldSecret: true,
  }),
  retention_days: setting('natural_number', 90, 'next tick', 'open', {
    description: 'How long finished runs are kept. 0: for ever.',
  }),
  lease_ms: setting('lease_time', 30_000, 'next renewal', 'open', {
    description:
      'How long a claim holds without being renewed. On PostgreSQL, another Baton may inherit an issue this long after the one that had it fell silent.',
  }),
};
