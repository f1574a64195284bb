import { basename, dirname } from 'node:path';
import type { Problem } from '../core/problem.ts';
import type { Settings } from '../core/settings.ts';
import type { TrackerProfile } from '../core/tracker-profile.ts';
import { type ComparedSetting, comparedSettings } from './changed-settings.ts';
import type { FrontMatter } from './parse-front-matter.ts';
import { checkBudgets } from './resolve/check-budgets.ts';
import { checkPipeline } from './resolve/check-pipeline.ts';
import { checkPlanner } from './resolve/check-planner.ts';
import { checkRetention } from './resolve/check-retention.ts';
import { resolveAgent } from './resolve/resolve-agent.ts';
import { checkAgentNames, resolveAgents } from './resolve/resolve-agents.ts';
import { resolveNotify } from './resolve/resolve-notify.ts';
import { resolvePolling } from './resolve/resolve-polling.ts';
import { checkReview, resolveReview } from './resolve/resolve-review.ts';
import { resolveStoreUrl } from './resolve/resolve-store.ts';
import { findTracker, resolveTracker } from './resolve/resolve-tracker.ts';
import { resolveWorkspace } from './resolve/resolve-workspace.ts';
import { type DescribedSetting, describeSettings } from './table/describe-settings.ts';
import { readSettings, sectionOf } from './table/read-settings.ts';
import { type PlainSettings, type SettingRow, settingRows } from './table/setting-table.ts';
import { reportUnknownKeys } from './table/unknown-keys.ts';
import type { WorkflowContext } from './workflow-context.ts';
import type { Report } from './workflow-problems.ts';

export interface ParsedSettings {
  readonly settings: Settings;
  readonly described: readonly DescribedSetting[];
  readonly compared: readonly ComparedSetting[];
}

/**
 * Turns front matter into settings: types and defaults from the table, then the tracker's profile, references and
 * paths, then the checks across keys, then the same for each named agent. Every step reports all its problems. Returns
 * null when not even the tracker is known; otherwise the settings are valid only if no error was reported.
 */
export function parseSettings(
  frontMatter: FrontMatter,
  path: string,
  context: WorkflowContext,
  report: Report,
): ParsedSettings | null {
  const known: Problem[] = [];
  const found = readFile(frontMatter, path, context, (problem) => {
    known.push(problem);
    report(problem);
  });
  if (found === null) return null;
  const { rows, profile, origins } = found;
  const { backends } = context;
  const read = (each: FrontMatter, tell: Report): Settings | null =>
    readFile(each, path, context, tell)?.settings ?? null;
  const agents = resolveAgents(frontMatter, found.writtenAgents, { backends, known, read }, report);
  const settings: Settings = { ...found.settings, agents };
  checkAgentNames(settings, report);
  checkBudgets(settings, backends, report);
  return {
    settings,
    described: describeSettings(settings, rows, profile, origins),
    compared: comparedSettings(settings, rows, profile),
  };
}

interface ReadFile {
  /** Without named agents. */
  readonly settings: Settings;
  readonly writtenAgents: PlainSettings['agents'];
  readonly rows: readonly SettingRow[];
  readonly profile: TrackerProfile;
  readonly origins: ReadonlyMap<string, string>;
}

function readFile(frontMatter: FrontMatter, path: string, context: WorkflowContext, report: Report): ReadFile | null {
  const { surroundings, trackers, backends } = context;
  const place = { workflowDir: dirname(path), surroundings };
  const section = sectionOf(frontMatter, 'tracker');
  const rows = settingRows(context);
  const read = readSettings(frontMatter, rows, report);
  const { plain } = read;

  // A kind of the wrong type is already reported; a second message would only confuse.
  const kindIsBad = plain.tracker.kind === null && Object.hasOwn(section, 'kind');
  const profile = kindIsBad ? null : findTracker(plain.tracker.kind, trackers, report);
  const tracker = profile && resolveTracker(profile, section, plain, place, report);
  const providers = [...trackers.map(({ kind }) => kind), 'notify', 'github'];
  // A tracker that needs a secret is a remote service.
  const isRemote = profile?.keys.some(({ secret }) => secret === true) ?? false;
  const polling = resolvePolling(frontMatter, read, { timeZone: surroundings.timeZone, providers, isRemote }, report);
  const workspace = resolveWorkspace(plain.workspace, { ...place, path }, report);
  const store = resolveStoreUrl(plain.store.url, surroundings, report);
  const notify = resolveNotify(plain.notify, { surroundings, timeZone: polling.timeZone }, report);
  const review = resolveReview(plain.review, surroundings, report);
  const secrets = [
    ...(tracker?.settings.secretEnvironment ?? []),
    ...store.variables,
    ...workspace.secretVariables,
    ...notify.secretVariables,
    ...review.secretVariables,
  ];
  const agent = resolveAgent(read, { ...place, backends, rows, secrets }, report);
  reportUnknownKeys(frontMatter, rows, profile === null ? trackers : [profile], report);
  if (profile === null || tracker === null) return null;

  const settings: Settings = {
    ...plain,
    project: { name: plain.project.name?.trim() ?? (basename(place.workflowDir) || 'project') },
    store: { ...plain.store, url: store.url },
    tracker: tracker.settings,
    polling,
    workspace: workspace.settings,
    agent: agent.settings,
    agents: {},
    review: review.settings,
    notify: notify.settings,
    server: { ...plain.server, host: plain.server.host.trim() },
    secretEnvironment: [...new Set([...secrets, ...agent.secretVariables])],
  };
  checkReview(settings, report);
  checkPipeline(settings, report);
  checkRetention(settings, report);
  checkPlanner(settings, profile, report);
  const origins = new Map([
    ...read.origins,
    ...tracker.origins,
    ...workspace.origins,
    ['store.url', store.origin] as const,
    ['review.token', review.tokenOrigin] as const,
  ]);
  return { settings, writtenAgents: plain.agents, rows, profile, origins };
}
