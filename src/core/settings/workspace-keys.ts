import { choice, setting } from './setting.ts';

/** The section `workspace`. */
export const workspaceKeys = {
  root: setting('text', null, 'next run', 'guarded', {
    description: 'Path of the directory that holds the workspaces, one for each issue.',
    defaultText:
      "`baton_workspaces/<folder>-<hash of the path>` in the system's directory for temporary files: one root a workflow file",
  }),
  repo: setting('text', null, 'next run', 'guarded', {
    description: 'The git repository to work on: a path or a URL.',
    mayHoldSecret: true,
  }),
  strategy: setting(choice('worktree', 'clone', 'none'), null, 'next new workspace', 'open', {
    description:
      'How the files of an issue come into its workspace: a worktree, a clone of its own, or by your hooks alone.',
    defaultText: '`worktree` when `workspace.repo` is set, otherwise `none`',
  }),
  base: setting('text', null, 'next new branch', 'open', {
    description: 'The branch that new branches begin at.',
    defaultText: "the repository's own HEAD",
  }),
  branch: setting('non_blank_text', 'baton/{{ issue.identifier | downcase }}', 'next new workspace', 'open', {
    description: 'Name of the branch of an issue, as a Liquid template that may use `issue`.',
  }),
  copy: setting('text_list', [], 'next new workspace', 'guarded', {
    description:
      'Files to copy that git does not bring, such as `.env`: paths and globs, relative to the folder of a repository on this machine, otherwise to that of the workflow file. Absolute paths and `..` are refused.',
  }),
  setup: setting('script', null, 'next new workspace', 'guarded', {
    description: 'Shell script that runs once in a workspace that git just made.',
  }),
  archive: setting('boolean', false, 'next removal', 'open', {
    description: 'Whether a workspace that is no git repository is kept as an archive before it is removed.',
  }),
  retention_ms: setting('natural_number', 0, 'next removal', 'open', {
    description: 'How long the workspace of a finished issue stays. 0: not at all.',
  }),
  retention_ms_by_state: setting('times_by_state', {}, 'next removal', 'open', {
    description: 'The same for single terminal states. Upper and lower case are the same.',
  }),
  salvage_retention_days: setting('natural_number', 0, 'next removal', 'open', {
    description: 'How long salvaged work is kept. 0: for ever.',
  }),
  min_free_disk_mb: setting('natural_number', 250, 'next tick', 'open', {
    description:
      'With less free disk than this, where the workspaces are or where Baton keeps its state, nothing new starts; what runs goes on. 0: no check.',
  }),
};

/** The section `hooks`. */
export const hookKeys = {
  after_create: setting('script', null, 'next new workspace', 'guarded', {
    description: 'Shell script that runs once in a workspace that was just made.',
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
  timeout_ms: setting('positive_integer', 60_000, 'next run', 'open', { description: 'The longest a hook may take.' }),
};
