import { type Setting, setting } from './setting.ts';

/** The section `tracker`; each kind adds its own keys under `tracker.provider`. */
export const trackerKeys = {
  kind: setting('text', null, 'next tick', 'guarded', {
    description: 'Which tracker the issues come from.',
    defaultText: 'none; required',
  }),
  active_states: setting('text_list', null, 'next tick', 'open', {
    description: 'States in which agents work on an issue.',
    defaultText: 'the defaults of the tracker kind',
  }),
  terminal_states: setting('text_list', null, 'next tick', 'open', {
    description: 'States in which an issue is finished and its workspace may be removed.',
    defaultText: 'the defaults of the tracker kind',
  }),
  review_states: setting('text_list', null, 'next poll', 'open', {
    description: "States in which an issue waits for a person's review. `agent.max_in_review` counts these issues.",
    defaultText: 'the defaults of the tracker kind',
  }),
  required_labels: setting('text_list', [], 'next tick', 'guarded', {
    description:
      'Labels that an issue must have, all of them. Upper and lower case are the same. A blank label matches no issue.',
  }),
  trusted_authors: setting('name_list', [], 'next run', 'guarded', {
    description:
      'Authors whose text goes into the prompt unchanged: ids, e-mails or logins of the tracker. Upper and lower case are the same. Text of all other authors is [fenced](#text-of-strangers).',
  }),
  states: {
    todo: roleState('Where Baton moves an issue whose blockers are finished. Must be an active state.'),
    in_progress: roleState('Where Baton moves an issue from `todo` when it starts a run. Must be an active state.'),
    review: roleState('Where Baton moves an issue whose change is ready. Counts as a review state.'),
    blocked: roleState(
      'Where an issue waits for its blockers and children. Baton moves it to `todo` when all of them are finished.',
    ),
    done: roleState('Where Baton moves an issue whose change a person has merged. Must be a terminal state.'),
  },
  comments: setting('boolean', false, 'next message', 'guarded', {
    description:
      'Whether Baton writes comments on issues that it worked on. It comments when it holds or unblocks an issue, and when it opens a pull request for it on GitHub.',
  }),
  provider: setting('map', {}, 'next tick', 'guarded', {
    description: 'Settings of this tracker kind; see the tables below.',
    mayHoldSecret: true,
  }),
};

/** The section `board`. */
export const boardKeys = {
  auto_promote: setting('boolean', false, 'next poll', 'guarded', {
    description:
      'Whether Baton moves issues from `backlog` to `todo` while slots are free and there is no other work: one at a time, by priority, and never one that a person moved to `backlog` or that has the label `proposed`. Only on the [board](board.md).',
  }),
};

/** The section `project`. */
export const projectKeys = {
  name: setting('non_blank_text', null, 'restart', 'open', {
    description: 'The name of the project in the store.',
    defaultText: 'the name of the folder of the workflow file',
  }),
};

/** The section `store`. */
export const storeKeys = {
  url: setting('text', null, 'restart', 'guarded', {
    description:
      'The address of the store: `sqlite:/path/file.db` or `postgres://…`. It may contain a password, so Baton never shows it. See [store](store.md).',
    defaultText: 'the variable `BATON_DATABASE_URL`, else a SQLite file in the state folder',
    mayHoldSecret: true,
  }),
  retention_days: setting('natural_number', 90, 'next tick', 'open', {
    description: 'How long Baton keeps finished runs. 0: forever.',
  }),
  lease_ms: setting('lease_time', 30_000, 'next renewal', 'open', {
    description:
      'How long a claim lasts without renewal. On PostgreSQL, another daemon may inherit the claim when it was not renewed for this long.',
  }),
};

function roleState(description: string): Setting<string | null> {
  return setting('non_blank_text', null, 'next tick', 'guarded', {
    description,
    defaultText: "the tracker kind's own state, if it has one",
  });
}
