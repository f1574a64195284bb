import { basename, dirname } from 'node:path';
import type { HookSettings, LimitSettings, Settings } from '../core/settings.ts';
import type { FrontMatter } from './parse-front-matter.ts';
import { resolveAgent } from './resolve/resolve-agent.ts';
import { resolveNotify } from './resolve/resolve-notify.ts';
import { resolvePolling } from './resolve/resolve-polling.ts';
import { resolveStoreUrl } from './resolve/resolve-store.ts';
import { findTracker, resolveTracker } from './resolve/resolve-tracker.ts';
import { resolveWorkspace, script } from './resolve/resolve-workspace.ts';
import type { WorkflowContext } from './surroundings.ts';
import { type DescribedSetting, describeSettings } from './table/describe-settings.ts';
import { readSettings, sectionOf } from './table/read-settings.ts';
import type { SettingValues } from './table/setting-table.ts';
import { reportUnknownKeys } from './table/unknown-keys.ts';
import type { Report } from './workflow-problems.ts';

export interface ParsedSettings {
  readonly settings: Settings;
  readonly branchTemplate: string;
  readonly described: readonly DescribedSetting[];
}

/**
 * Front matter to settings: types and defaults from the table, then the tracker's profile, references and paths, then
 * the checks across keys. Every step reports all it finds. Null when not even the tracker is known; otherwise the
 * settings are only good if no error was reported.
 */
export function parseSettings(
  frontMatter: FrontMatter,
  path: string,
  context: WorkflowContext,
  report: Report,
): ParsedSettings | null {
  const { surroundings, trackers, backends } = context;
  const place = { workflowDir: dirname(path), surroundings };
  const section = sectionOf(frontMatter, 'tracker');
  const read = readSettings(frontMatter, report);
  const { values } = read;

  // A kind of the wrong type is already reported; asking for it again would only confuse.
  const kindIsBad = values['tracker.kind'] === null && Object.hasOwn(section, 'kind');
  const profile = kindIsBad ? null : findTracker(values['tracker.kind'], trackers, report);
  const tracker = profile && resolveTracker(profile, section, values, place, report);
  const providers = [...trackers.map(({ kind }) => kind), 'notify'];
  // A tracker that wants a secret is somebody else's.
  const isRemote = profile?.keys.some(({ secret }) => secret === true) ?? false;
  const polling = resolvePolling(frontMatter, read, { timeZone: surroundings.timeZone, providers, isRemote }, report);
  const workspace = resolveWorkspace(values, { ...place, path }, report);
  const store = resolveStoreUrl(values['store.url'], surroundings, report);
  const notify = resolveNotify(values, { surroundings, timeZone: polling.timeZone }, report);
  const secrets = [
    ...(tracker?.settings.secretEnvironment ?? []),
    ...store.variables,
    ...workspace.secretVariables,
    ...notify.secretVariables,
  ];
  const agent = resolveAgent(read, { ...place, backends, secrets }, report);
  reportUnknownKeys(frontMatter, profile, trackers, report);
  if (profile === null || tracker === null) return null;

  const settings: Settings = {
    project: { name: values['project.name']?.trim() ?? (basename(place.workflowDir) || 'project') },
    store: { url: store.url, retentionDays: values['store.retention_days'], leaseMs: values['store.lease_ms'] },
    tracker: tracker.settings,
    polling: polling.settings,
    workspace: workspace.settings,
    hooks: readHooks(values),
    agent: agent.settings,
    limits: readLimitSettings(values),
    codex: {
      command: values['codex.command'],
      approvalPolicy: values['codex.approval_policy'],
      threadSandbox: values['codex.thread_sandbox'],
      turnSandboxPolicy: values['codex.turn_sandbox_policy'],
      tools: values['codex.tools'],
    },
    server: {
      port: values['server.port'],
      host: values['server.host'].trim(),
      allowedHosts: values['server.allowed_hosts'],
    },
    observability: {
      isViewShown: values['observability.dashboard_enabled'],
      refreshMs: values['observability.refresh_ms'],
    },
    notify: notify.settings,
    secretEnvironment: [...new Set([...secrets, ...agent.secretVariables])],
  };
  const origins = new Map([
    ...[...read.given].map((key) => [key, 'file'] as const),
    ...tracker.origins,
    ...agent.origins,
    ...workspace.origins,
    ['store.url', store.origin] as const,
  ]);
  const branchTemplate = values['workspace.branch'];
  const inForce = { ...settings, branchTemplate, timeZone: polling.timeZone, notifyTimeZone: notify.timeZone };
  return { settings, branchTemplate, described: describeSettings(inForce, profile, origins) };
}

function readHooks(values: SettingValues): HookSettings {
  return {
    afterCreate: script(values['hooks.after_create']),
    beforeRun: script(values['hooks.before_run']),
    afterRun: script(values['hooks.after_run']),
    beforeRemove: script(values['hooks.before_remove']),
    timeoutMs: values['hooks.timeout_ms'],
  };
}

function readLimitSettings(values: SettingValues): LimitSettings {
  return {
    runsPerIssue: values['limits.runs_per_issue'],
    tokensPerIssue: values['limits.tokens_per_issue'],
    runWallTimeMs: values['limits.run_wall_time_ms'],
    issueWallTimeMs: values['limits.issue_wall_time_ms'],
    usdPerIssue: values['limits.usd_per_issue'],
    tokensPerDay: values['limits.tokens_per_day'],
    usdPerDay: values['limits.usd_per_day'],
  };
}
