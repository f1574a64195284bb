import { choice, setting } from './setting.ts';

/** The section `workspace`. */
export const workspaceKeys = {
  root: setting('text', null, 'next run', 'guarded', {
    description: 'Path of the directory for the workspaces, one for each issue.',
    defaultText: '`workspaces` in the state folder: each workflow file has its own root',
  }),
  repo: setting('text', null, 'next run', 'guarded', {
    description: 'The git repository to work on: a path or a URL.',
    mayHoldSecret: true,
  }),
  strategy: setting(choice('worktree', 'clone', 'none'), null, 'next new workspace', 'open', {
    description:
      'How Baton fills the workspace of an issue: with a worktree, with its own clone, or not at all (your hooks do it).',
    defaultText: '`worktree` when `workspace.repo` is set, otherwise `none`',
  }),
  base: setting('text', null, 'next new branch', 'open', {
    description: 'The branch that new branches start from.',
    defaultText: 'the HEAD of the repository',
  }),
  branch: setting('non_blank_text', 'baton/{{ issue.identifier | downcase }}', 'next new workspace', 'open', {
    description: 'Branch name for an issue, as a Liquid template that may use `issue`.',
  }),
  copy: setting('text_list', [], 'next new workspace', 'guarded', {
    description:
      'Files to copy into the workspace that are not in git, such as `.env`. Paths and globs are relative to the repository if it is on this machine, otherwise to the folder of the workflow file. Absolute paths and `..` are refused.',
  }),
  setup: setting('script', null, 'next new workspace', 'guarded', {
    description: 'Shell script that runs once in a new workspace that Baton filled from the repository.',
  }),
  archive: setting('boolean', false, 'next removal', 'open', {
    description:
      'Whether Baton keeps an archive of a workspace that is not a git repository before it removes the workspace.',
  }),
  retention_ms: setting('natural_number', 0, 'next removal', 'open', {
    description: 'How long Baton keeps the workspace of a finished issue. 0: Baton removes it at once.',
  }),
  retention_ms_by_state: setting('times_by_state', {}, 'next removal', 'open', {
    description: 'The same for single terminal states. Upper and lower case are the same.',
  }),
  salvage_retention_days: setting('natural_number', 0, 'next removal', 'open', {
    description: 'How long Baton keeps work that it saved before it removed a workspace. 0: forever.',
  }),
  branch_retention_days: setting('natural_number', 0, 'next removal', 'open', {
    description:
      'How long Baton keeps the branch of a finished issue, if Baton made it. Commits that the base lacks are saved first. 0: forever. Must be less than `store.retention_days`.',
  }),
  cache_retention_days: setting('natural_number', 30, 'next removal', 'open', {
    description: 'How long Baton keeps its copy of a repository that nothing here uses any more. 0: forever.',
  }),
  min_free_disk_mb: setting('natural_number', 250, 'next tick', 'open', {
    description:
      'With less free disk than this at the workspaces or at the state folder, no new run starts; live runs continue. 0: no check.',
  }),
};

/** The section `hooks`. */
export const hookKeys = {
  after_create: setting('script', null, 'next new workspace', 'guarded', {
    description: 'Shell script that runs once in a new workspace.',
  }),
  before_run: setting('script', null, 'next run', 'guarded', {
    description: 'Shell script that runs in the workspace before each run.',
  }),
  after_run: setting('script', null, 'next run', 'guarded', {
    description: 'Shell script that runs in the workspace after each run.',
  }),
  before_remove: setting('script', null, 'next removal', 'guarded', {
    description: 'Shell script that runs in a workspace before it is removed.',
  }),
  timeout_ms: setting('positive_integer', 60_000, 'next run', 'open', { description: 'How long a hook may take.' }),
};
