import type { Clock } from '../clock/clock.ts';
import type { Logger } from '../core/logger.ts';
import type { Settings } from '../core/settings.ts';
import { createRedactor, secretsIn } from '../core/text/redact.ts';
import { secretsAmong } from '../process/child-environment.ts';
import type { ProcessDeps } from '../process/start-child.ts';
import { createCheckouts } from '../workspace/git/checkout/checkouts.ts';
import { readSource } from '../workspace/git/source/read-source.ts';
import { createLocalWorkspaces } from '../workspace/local-workspaces.ts';
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
}

export interface ComposedWorkspaces {
  readonly resources: WorkspaceResources;
  /** Returns the same workspaces for the same settings, so that simultaneous starts share one fetch. */
  readonly workspacesFor: (settings: Settings) => Workspaces;
  /** Deletes saved work that is older than the settings allow; returns the number of deleted entries. */
  readonly pruneSalvage: (settings: Settings) => Promise<number>;
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
  const { workflowPath, stateDir, clock } = parts;
  const resources = createWorkspaceResources(parts);
  const made = new WeakMap<Settings, Workspaces>();
  const workspacesFor = (settings: Settings): Workspaces => {
    const known = made.get(settings);
    if (known !== undefined) return known;
    const { project, workspace, hooks, secretEnvironment } = settings;
    const workspaces = createLocalWorkspaces({
      ...parts,
      project: project.name,
      settings: workspace,
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
    pruneSalvage: async (settings) => {
      const { salvageRetentionDays } = settings.workspace;
      if (salvageRetentionDays === 0) return 0;
      const olderThanMs = salvageRetentionDays * dayMs;
      const old = await pruneSalvage(salvageFor(settings, resources, parts), {
        olderThanMs,
        now: clock.now(),
        dryRun: false,
      });
      return old.length;
    },
  };
}

/** The saved work that belongs to these settings. */
export function salvageFor(
  { project, workspace: settings }: Settings,
  resources: WorkspaceResources,
  parts: Omit<WorkspaceComposition, 'workflowPath' | 'stateDir' | 'isolationFor'>,
): Salvage {
  const { find: findCheckout } = createCheckouts({ ...parts, ...resources, settings });
  const { repo, archive } = settings;
  return createSalvage({ ...parts, ...resources, project: project.name, repo, archive, findCheckout });
}
