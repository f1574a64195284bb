import type { BackendProfile, ImpliedDefault } from '../../core/backend-profile.ts';
import { agentKeys, agentsKey, limitKeys } from '../../core/settings/agent-keys.ts';
import { intakeKeys } from '../../core/settings/intake-keys.ts';
import { judgeKeys } from '../../core/settings/judge-keys.ts';
import { learnerKeys } from '../../core/settings/learner-keys.ts';
import { pipelineKeys } from '../../core/settings/pipeline-keys.ts';
import { plannerKeys } from '../../core/settings/planner-keys.ts';
import { jobKeys, pollingKeys, type TimedJob } from '../../core/settings/polling-keys.ts';
import { secondPromptKeys } from '../../core/settings/prompt-keys.ts';
import { reviewKeys } from '../../core/settings/review-keys.ts';
import { scannerKeys } from '../../core/settings/scanner-keys.ts';
import { notifyKeys, observabilityKeys, serverKeys, unsupportedKeys } from '../../core/settings/server-keys.ts';
import type { Section, Setting, SettingTable } from '../../core/settings/setting.ts';
import { setupKeys } from '../../core/settings/setup-keys.ts';
import { boardKeys, projectKeys, storeKeys, trackerKeys } from '../../core/settings/tracker-keys.ts';
import { hookKeys, workspaceKeys } from '../../core/settings/workspace-keys.ts';
import type { Settings } from '../../core/settings.ts';
import type { TrackerProfile } from '../../core/tracker-profile.ts';

/** The sections whose keys do not depend on an adapter. */
const sections = {
  tracker: trackerKeys,
  board: boardKeys,
  project: projectKeys,
  store: storeKeys,
  polling: pollingKeys,
  workspace: workspaceKeys,
  hooks: hookKeys,
  agent: agentKeys,
  agents: agentsKey,
  limits: limitKeys,
  review: reviewKeys,
  judge: judgeKeys,
  pipeline: pipelineKeys,
  planner: plannerKeys,
  intake: intakeKeys,
  scanner: scannerKeys,
  learner: learnerKeys,
  setup: setupKeys,
  second_prompt: secondPromptKeys,
  notify: notifyKeys,
  server: serverKeys,
  observability: observabilityKeys,
};

type OwnSettings = Section<typeof sections>;

/** The settings as written in the file, before anything is resolved. */
export interface PlainSettings extends Omit<OwnSettings, 'polling'>, Pick<Settings, 'backends'> {
  readonly polling: OwnSettings['polling'] & { readonly jobIntervalsMs: Readonly<Record<TimedJob, number>> };
}

/** One key of the front matter. */
export interface SettingRow extends Setting {
  /** Dotted, as in the file. */
  readonly key: string;
  /** The path of its value in `Settings`. */
  readonly path: readonly string[];
  /** The dotted key for which this one is another spelling. */
  readonly aliasOf?: string;
  /** The allowed words, where the adapters define them. */
  readonly offered?: readonly string[];
  /** Its default while a key of a backend has a certain value. */
  readonly implied?: readonly ImpliedDefault[];
}

export interface Adapters {
  readonly trackers: readonly TrackerProfile[];
  readonly backends: readonly BackendProfile[];
}

/**
 * Every key of the front matter except those of the tracker kinds, section by section. Reading, `baton validate`,
 * `baton schema` and docs/configuration.md all use this one table (specification 5.3).
 */
export function settingRows(adapters: Adapters): readonly SettingRow[] {
  const own = rowsOf(sections, '', []);
  const jobs = rowsOf(jobKeys, 'polling.jobs.', []).map((row) => ({ ...row, path: jobPath(row.key) }));
  const ofBackends = adapters.backends.flatMap((backend) => backendRows(backend, own));
  const all = [...own, ...jobs, ...rowsOf(unsupportedKeys, '', []), ...ofBackends];
  const bySection = Map.groupBy(all, ({ key }) => key.split('.')[0]);
  return [...bySection.values()].flat().map((row) => withAdapters(row, adapters));
}

function rowsOf(table: SettingTable, above: string, path: readonly string[]): SettingRow[] {
  return Object.entries(table).flatMap(([name, row]) => {
    const place = { key: `${above}${name}`, path: [...path, camelCase(name)] };
    return isSetting(row) ? [{ ...row, ...place }] : rowsOf(row, `${place.key}.`, place.path);
  });
}

/** `Settings` has a job under its own name, and only where the file sets its interval. */
function jobPath(key: string): readonly string[] {
  return ['polling', 'jobIntervalsMs', key.split('.').at(-2) ?? ''];
}

function backendRows({ name, settings }: BackendProfile, own: readonly SettingRow[]): SettingRow[] {
  if (settings === undefined) return [];
  const { section, keys, aliases = {} } = settings;
  const spellings = Object.entries(aliases).flatMap(([key, aliasOf]) => {
    const meant = own.filter((row) => row.key === aliasOf);
    const description = `Another spelling of \`${aliasOf}\`, which wins if both are set.`;
    return meant.map((row) => ({ ...row, key, aliasOf, default: null, description }));
  });
  return [...rowsOf(keys, `${section}.`, ['backends', name]), ...spellings];
}

/** Adds what the adapters define: the allowed words, and some defaults. The first backend is the default. */
function withAdapters(row: SettingRow, { trackers, backends }: Adapters): SettingRow {
  if (row.key === 'tracker.kind') return { ...row, offered: trackers.map(({ kind }) => kind) };
  if (row.key === 'agent.backend') {
    const offered = backends.map(({ name }) => name);
    return { ...row, offered, default: offered[0] ?? null };
  }
  const ofBackends = backends.flatMap(({ settings }) => settings?.implied ?? []);
  const implied = [...ofBackends, unattended].filter(({ key }) => key === row.key);
  if (implied.length === 0) return row;
  const words = implied.map(({ value, when, is }) => `\`${value}\` when \`${when}\` is \`${is}\``);
  return { ...row, implied, defaultText: [`\`${row.default}\``, ...words].join('; ') };
}

/** A file that answers requests for permission by itself is made for work without a person. */
const unattended: ImpliedDefault = { key: 'agent.ask_timeout_ms', value: 0, when: 'agent.approvals', is: 'auto' };

function isSetting(row: Setting | SettingTable): row is Setting {
  return typeof row.takesEffect === 'string';
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** `polling.budget.requests_per_day` is the key `requests_per_day` of the section `polling.budget`. */
export function splitKey(key: string): { readonly section: string; readonly name: string } {
  const dot = key.lastIndexOf('.');
  return { section: key.slice(0, Math.max(dot, 0)), name: key.slice(dot + 1) };
}

/** The sections that contain the keys, each after its parent section. */
export function sectionsOf(keys: Iterable<string>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const key of keys) {
    for (let dot = key.indexOf('.'); dot >= 0; dot = key.indexOf('.', dot + 1)) names.add(key.slice(0, dot));
  }
  return names;
}
