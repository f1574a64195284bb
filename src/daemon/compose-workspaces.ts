import type { Clock } from '../clock/clock.ts';
import type { Logger } from '../core/logger.ts';
import { nothingToPrune } from '../core/prune.ts';
import type { Settings } from '../core/settings.ts';
import { createRedactor, secretsIn } from '../core/text/redact.ts';
import type { FilePruning } from '../orchestrator/jobs/pruning.ts';
import { secretsAmong } from '../process/child-environment.ts';
import type { ProcessDeps } from '../process/start-child.ts';
import { secondPromptPath } from '../workflow/second-prompt.ts';
import { pruneCaches } from '../workspace/git/cache/prune-caches.ts';
import { cacheFolder, createCheckouts, oneAtATime } from '../workspace/git/checkout/checkouts.ts';
import { homeOf, isAtRemoteHost } from '../workspace/git/source/home-repository.ts';
import { readSource } from '../workspace/git/source/read-source.ts';
import { createLocalWorkspaces } from '../workspace/local-workspaces.ts';
import { type BranchParts, deleteBranch, standingBranches } from '../workspace/removal/prune-branches.ts';
import { createSalvage } from '../workspace/salvage/create-salvage.ts';
import { pruneSalvage } from '../workspace/salvage/prune-salvage.ts';
import type { Salvage } from '../workspace/salvage/salvage.ts';
import type { Workspaces } from '../workspace/workspace.ts';
import { createWorkspaceResources, type WorkspaceResources } from '../workspace/workspace-resources.ts';
import type { Isolate } from './compose-isolation.ts';
import { restoreCommand } from './services/salvage-report.ts';

const dayMs = 24 * 3_600_000;

export interface WorkspaceComposition extends ProcessDeps {
  readonly clock: Clock;
  readonly daemonEnv: Readonly<Record<string, string | undefined>>;
  readonly workflowPath: string;
  readonly stateDir: string;
  readonly logger: Logger;
  readonly isolationFor: (settings: Settings) => Isolate;
  /** As `CacheParts.fetchBase`, by the settings. */
  readonly fetchBase?: (settings: Settings, signal: AbortSignal) => Promise<string | null>;
}

export interface ComposedWorkspaces {
  readonly resources: WorkspaceResources;
  /** Returns the same workspaces for the same settings, so that simultaneous starts share one fetch. */
  readonly workspacesFor: (settings: Settings) => Workspaces;
  readonly files: FilePruning;
}

/** Says at the start why no workspace can be made from a local repository. A remote one is not asked before a run needs it. */
export async function warnOfRepository(
  { workspace }: Settings,
  { git }: WorkspaceResources,
  logger: Logger,
): Promise<void> {
  const { repo, base, strategy } = workspace;
  if (repo === null || !repo.isLocal || strategy === 'none') return;
  await readSource(git, { repo, base, branches: [] }).catch((error: unknown) =>
    logger.warn('repository_not_ready', { repository: repo.shown, error }),
  );
}

/** The workspaces of one workflow file, also when its settings change. */
export function composeWorkspaces(parts: WorkspaceComposition): ComposedWorkspaces {
  const { workflowPath, stateDir } = parts;
  const resources = createWorkspaceResources(parts);
  const made = new WeakMap<Settings, Workspaces>();
  const workspacesFor = (settings: Settings): Workspaces => {
    const known = made.get(settings);
    if (known !== undefined) return known;
    const { project, workspace, hooks, secretEnvironment } = settings;
    const { fetchBase, ...others } = parts;
    const workspaces = createLocalWorkspaces({
      ...others,
      project: project.name,
      needsBranch: settings.agent.afterSuccess === 'review',
      promptFile: secondPromptPath(settings, workflowPath),
      settings: { ...workspace, repo: homeOf(settings, resources.places) },
      fetchBase: isAtRemoteHost(settings) && fetchBase ? (signal) => fetchBase(settings, signal) : undefined,
      hooks,
      isolate: parts.isolationFor(settings),
      secretEnvironment,
      redactor: createRedactor([...secretsIn(settings), ...secretsAmong(parts.daemonEnv)]),
      resources,
      restoreCommand: (name) => restoreCommand(name, { workflowPath, stateDir }),
    });
    made.set(settings, workspaces);
    return workspaces;
  };
  return {
    resources,
    workspacesFor,
    files: filePruning(resources, parts),
  };
}

/** Removes files and references by the settings, for the jobs and for `baton prune`. */
function filePruning(resources: WorkspaceResources, parts: WorkspaceComposition): FilePruning {
  const { clock, logger } = parts;
  const { git, places } = resources;
  const branchParts = (settings: Settings): BranchParts => ({
    clock,
    git,
    logger,
    project: settings.project.name,
    repo: homeOf(settings, places),
  });
  return {
    savedWork: async (settings, { dryRun }) => {
      const { salvageRetentionDays } = settings.workspace;
      if (salvageRetentionDays === 0) return nothingToPrune;
      const salvage = salvageFor(settings, resources, parts);
      const wanted = { olderThanMs: salvageRetentionDays * dayMs, now: clock.now() };
      const old = await pruneSalvage(salvage, { ...wanted, dryRun: true });
      const bytes = await salvage.measure(old);
      const { length: count } = dryRun ? old : await pruneSalvage(salvage, { ...wanted, dryRun });
      return { count, bytes };
    },
    caches: async (settings, { dryRun }) => {
      const { cacheRetentionDays, repo } = settings.workspace;
      if (cacheRetentionDays === 0) return nothingToPrune;
      const used = [repo, homeOf(settings, places)].filter((each) => each !== null);
      const current = used.map((each) => cacheFolder(places, each));
      const unusedBefore = clock.now() - cacheRetentionDays * dayMs;
      return await pruneCaches({ places, oneAtATime, current, unusedBefore, dryRun });
    },
    standing: (settings, published) => standingBranches(published, branchParts(settings)),
    deleteBranch: (settings, ended) => deleteBranch(ended, branchParts(settings)),
  };
}

/** The saved work that belongs to these settings. */
export function salvageFor(
  whole: Settings,
  resources: WorkspaceResources,
  parts: Omit<WorkspaceComposition, 'workflowPath' | 'stateDir' | 'isolationFor' | 'fetchBase'>,
): Salvage {
  const { project, workspace: settings } = whole;
  const { clock, logger } = parts;
  const { find: findCheckout } = createCheckouts({ ...resources, clock, logger, settings });
  const repo = homeOf(whole, resources.places);
  const { archive } = settings;
  return createSalvage({ ...parts, ...resources, project: project.name, repo, archive, findCheckout });
}
