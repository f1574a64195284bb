import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import type { Issue } from '../../src/core/issue/issue.ts';
import type { HookSettings, WorkspaceSettings } from '../../src/core/settings.ts';
import { createLocalWorkspaces } from '../../src/workspace/local-workspaces.ts';
import type { WorkspaceVisit } from '../../src/workspace/workspace.ts';
import { createWorkspaceResources } from '../../src/workspace/workspace-resources.ts';
import { issue } from '../fake/issues.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { settings } from '../fake/settings.ts';
import { isolationIn } from '../process/isolation/isolation-in.ts';
import { scratchFolder } from './scratch-folder.ts';

export interface Changes {
  readonly root?: string;
  readonly stateDir?: string;
  readonly workspace?: Partial<WorkspaceSettings>;
  readonly hooks?: Partial<HookSettings>;
  readonly env?: Record<string, string>;
  readonly secrets?: readonly string[];
  /** Whether hooks are really isolated; this needs namespaces. */
  readonly isolated?: boolean;
}

/** Real local workspaces in their own folder, with a home folder that no profile of the machine reaches. */
export function scratchWorkspaces(changes: Changes = {}) {
  const folder = scratchFolder();
  const root = changes.root ?? path.join(folder, 'workspaces');
  const home = path.join(folder, 'home');
  mkdirSync(home);
  const stateDir = changes.stateDir ?? path.join(folder, 'state');
  const logger = memoryLogger();
  const parts = {
    clock: systemClock,
    containment: changes.isolated === true ? 'user_pid_namespace' : 'marker_sweep',
    daemonId: systemChance.id(),
    daemonEnv: { PATH: process.env.PATH, HOME: home, ...changes.env },
  } as const;
  const resources = createWorkspaceResources({ ...parts, stateDir });
  const workspaces = createLocalWorkspaces({
    ...parts,
    project: 'scratch',
    settings: settings({ workspace: { root, ...changes.workspace } }).workspace,
    hooks: {
      afterCreate: null,
      beforeRun: null,
      afterRun: null,
      beforeRemove: null,
      timeoutMs: 60_000,
      ...changes.hooks,
    },
    secretEnvironment: changes.secrets ?? [],
    resources,
    ...(changes.isolated === true ? { isolate: isolationIn(folder) } : {}),
    restoreCommand: (name) => `baton salvage restore ${name}`,
    logger,
  });
  return { folder, root, home, stateDir, resources, logger, workspaces };
}

export function visit(changes: Partial<Issue> = {}, more: Partial<WorkspaceVisit> = {}): WorkspaceVisit {
  const base = { issue: issue({ identifier: 'T-1', ...changes }), runId: systemChance.id(), attempt: null };
  return { ...base, branch: `baton/${base.issue.identifier.toLowerCase()}`, ...more };
}
