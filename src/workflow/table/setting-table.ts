import { agentTable, codexTable } from './agent-table.ts';
import { notifyTable } from './notify-table.ts';
import { pollingTable } from './polling-table.ts';
import { serverTable } from './server-table.ts';
import { type Setting, setting } from './setting.ts';
import {
  flag,
  leaseTime,
  map,
  nameList,
  naturalNumber,
  nonBlankText,
  positiveInteger,
  text,
  textList,
  timesByState,
  usdAmount,
  workspaceStrategy,
} from './setting-types.ts';

const hourMs = 3_600_000;

const noRemoteHosts = 'work on other machines over SSH does not exist yet';

/**
 * Every key of the front matter but those of the tracker kinds: the one table behind reading, `baton validate`,
 * `baton schema` and the test of docs/configuration.md (specification 5.3).
 */
const settingTable = {
  'tracker.kind': setting(text, null, 'Which tracker the issues come from.', {
    defaultText: 'none; required',
    effective: (settings) => settings.tracker.kind,
  }),
  'tracker.active_states': setting(textList, null, 'States in which an issue is worked on.', {
    defaultText: 'those of the kind',
    effective: (settings) => settings.tracker.activeStates,
  }),
  'tracker.terminal_states': setting(textList, null, 'States in which an issue is over and its workspace may go.', {
    defaultText: 'those of the kind',
    effective: (settings) => settings.tracker.terminalStates,
  }),
  'tracker.review_states': setting(textList, null, 'States in which an issue waits for review, to be counted.', {
    defaultText: 'those of the kind',
    effective: (settings) => settings.tracker.reviewStates,
  }),
  'tracker.required_labels': setting(
    textList,
    [],
    'Labels an issue needs, all of them; a blank one matches no issue.',
    {
      effective: (settings) => settings.tracker.requiredLabels,
    },
  ),
  'tracker.trusted_authors': setting(
    nameList,
    [],
    'Whose text goes into a prompt as it is; that of everybody else is fenced as data.',
    { effective: (settings) => settings.tracker.trustedAuthors },
  ),
  'tracker.provider': setting(map, {}, 'What the tracker of this kind needs to know.'),
  'project.name': setting(nonBlankText, null, 'Under which name the store keeps what belongs to this file.', {
    defaultText: 'the name of the folder that holds the file',
    effective: (settings) => settings.project.name,
  }),
  'store.url': setting(text, null, 'Where everything is kept: `sqlite:/path/file.db` or `postgres://…`.', {
    defaultText: 'the variable BATON_DATABASE_URL, else a SQLite file in the state folder',
    effective: (settings) => settings.store.url,
  }),
  'store.retention_days': setting(naturalNumber, 90, 'How long finished runs are kept; 0: for ever.', {
    effective: (settings) => settings.store.retentionDays,
  }),
  'store.lease_ms': setting(leaseTime, 30_000, 'How long a claim holds without being renewed.', {
    effective: (settings) => settings.store.leaseMs,
  }),
  ...pollingTable,
  'workspace.root': setting(text, null, 'Directory that holds the workspaces, one for each issue.', {
    defaultText: '<system temp>/baton_workspaces/<folder>-<hash of the path>',
    effective: (settings) => settings.workspace.root,
  }),
  'workspace.repo': setting(text, null, 'The git repository to work on: a path or a URL.', {
    effective: (settings) => settings.workspace.repo?.shown ?? null,
  }),
  'workspace.strategy': setting(workspaceStrategy, null, 'How the files of an issue come into its workspace.', {
    defaultText: 'worktree when workspace.repo is set, otherwise none',
    effective: (settings) => settings.workspace.strategy,
  }),
  'workspace.base': setting(text, null, 'The branch that new branches begin at.', {
    defaultText: "the repository's own HEAD",
    effective: (settings) => settings.workspace.base,
  }),
  'workspace.branch': setting(
    nonBlankText,
    'baton/{{ issue.identifier | downcase }}',
    'Name of the branch of an issue, as a Liquid template that may use `issue`.',
    { effective: (settings) => settings.branchTemplate },
  ),
  'workspace.copy': setting(textList, [], 'Files to bring along that git does not bring; globs.', {
    effective: (settings) => settings.workspace.copy,
  }),
  'workspace.setup': setting(text, null, 'Shell script, run once in a workspace that git just made.', {
    effective: (settings) => settings.workspace.setup,
  }),
  'workspace.archive': setting(flag, false, 'Whether a workspace without git is archived before it is removed.', {
    effective: (settings) => settings.workspace.archive,
  }),
  'workspace.retention_ms': setting(naturalNumber, 0, 'How long the workspace of a finished issue stays.', {
    effective: (settings) => settings.workspace.retentionMs,
  }),
  'workspace.retention_ms_by_state': setting(timesByState, {}, 'The same for single states of the issue.', {
    effective: (settings) => settings.workspace.retentionMsByState,
  }),
  'workspace.salvage_retention_days': setting(naturalNumber, 0, 'How long salvaged work is kept; 0: for ever.', {
    effective: (settings) => settings.workspace.salvageRetentionDays,
  }),
  'workspace.min_free_disk_mb': setting(naturalNumber, 250, 'With less free disk nothing new starts; 0: no check.', {
    effective: (settings) => settings.workspace.minFreeDiskMb,
  }),
  'hooks.after_create': setting(text, null, 'Shell script, run once in a workspace that was just made.', {
    effective: (settings) => settings.hooks.afterCreate,
  }),
  'hooks.before_run': setting(text, null, 'Shell script, run in the workspace before each run.', {
    effective: (settings) => settings.hooks.beforeRun,
  }),
  'hooks.after_run': setting(text, null, 'Shell script, run in the workspace after each run.', {
    effective: (settings) => settings.hooks.afterRun,
  }),
  'hooks.before_remove': setting(text, null, 'Shell script, run in a workspace before it is removed.', {
    effective: (settings) => settings.hooks.beforeRemove,
  }),
  'hooks.timeout_ms': setting(positiveInteger, 60_000, 'The longest a hook may take.', {
    effective: (settings) => settings.hooks.timeoutMs,
  }),
  ...agentTable,
  'limits.runs_per_issue': setting(naturalNumber, 30, 'How many runs an issue may have; 0: no limit.', {
    effective: (settings) => settings.limits.runsPerIssue,
  }),
  'limits.tokens_per_issue': setting(naturalNumber, 20_000_000, 'How many tokens an issue may use; 0: no limit.', {
    effective: (settings) => settings.limits.tokensPerIssue,
  }),
  'limits.run_wall_time_ms': setting(naturalNumber, 4 * hourMs, 'How long a run may take; 0: no limit.', {
    effective: (settings) => settings.limits.runWallTimeMs,
  }),
  'limits.issue_wall_time_ms': setting(
    naturalNumber,
    24 * hourMs,
    'How long the runs of an issue may take together; 0: no limit.',
    { effective: (settings) => settings.limits.issueWallTimeMs },
  ),
  'limits.usd_per_issue': setting(usdAmount, 0, 'How many US dollars an issue may cost; 0: no limit.', {
    effective: (settings) => settings.limits.usdPerIssue,
  }),
  'limits.tokens_per_day': setting(
    naturalNumber,
    100_000_000,
    'How many tokens all runs of a UTC day may use; 0: no limit.',
    { effective: (settings) => settings.limits.tokensPerDay },
  ),
  'limits.usd_per_day': setting(usdAmount, 0, 'How many US dollars all runs of a UTC day may cost; 0: no limit.', {
    effective: (settings) => settings.limits.usdPerDay,
  }),
  ...codexTable,
  ...notifyTable,
  'worker.ssh_hosts': setting(textList, [], 'No effect yet: other machines to work on.', {
    unsupported: { severity: 'error', because: noRemoteHosts },
  }),
  'worker.max_concurrent_agents_per_host': setting(positiveInteger, null, 'No effect yet: limit for each machine.', {
    unsupported: { severity: 'warning', because: noRemoteHosts },
  }),
  ...serverTable,
};

type Table = typeof settingTable;

export type SettingKey = keyof Table;

/** What the file says, or the default. */
export type SettingValues = {
  readonly [K in SettingKey]: Table[K] extends Setting<infer T, infer D> ? T | D : never;
};

/** The rows of the table where their exact types do not matter. */
export const settingRows = Object.entries(settingTable) as readonly (readonly [
  SettingKey,
  Setting<unknown, unknown>,
])[];

/** `polling.budget.requests_per_day` is the key `requests_per_day` of the section `polling.budget`. */
export function splitKey(key: string): { readonly section: string; readonly name: string } {
  const dot = key.lastIndexOf('.');
  return { section: key.slice(0, Math.max(dot, 0)), name: key.slice(dot + 1) };
}

/** The sections that keys are in, each after the one that it is in itself. */
export function sectionsOf(keys: Iterable<string>): ReadonlySet<string> {
  const sections = new Set<string>();
  for (const key of keys) {
    for (let dot = key.indexOf('.'); dot >= 0; dot = key.indexOf('.', dot + 1)) sections.add(key.slice(0, dot));
  }
  return sections;
}
