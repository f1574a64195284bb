import path from 'node:path';
import { systemChance } from '../../clock/system-chance.ts';
import { systemClock } from '../../clock/system-clock.ts';
import type { Logger } from '../../core/logger.ts';
import type { Settings } from '../../core/settings.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { workflowContext } from '../../daemon/adapters.ts';
import { salvageFor } from '../../daemon/compose-workspaces.ts';
import { quietLogger } from '../../daemon/quiet-logger.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { statePlace, type WorkplaceFlags } from '../../daemon/workplace.ts';
import { loadWorkflow } from '../../workflow/load-workflow.ts';
import type { Salvage, SalvageReach } from '../../workspace/salvage/salvage.ts';
import { createWorkspaceResources } from '../../workspace/workspace-resources.ts';

export interface SalvageFlags extends WorkplaceFlags {
  readonly json?: boolean;
}

export interface ReachFlags extends SalvageFlags {
  readonly allProjects?: boolean;
}

export interface SalvagePlace {
  readonly salvage: Salvage;
  readonly settings: Settings;
  readonly workflowPath: string;
}

/** Whether a command covers one project or all. */
export function reachOf({ allProjects }: ReachFlags): SalvageReach {
  return { allProjects: allProjects === true };
}

/**
 * The saved work of a workflow file. The commands read the repository themselves, next to any daemon or none: a person
 * who restores work may have lost the store too, and the folder to restore into is one of the caller, not of the daemon.
 * Nothing here needs the store or takes a lock.
 */
export function openSalvage(flags: SalvageFlags, surroundings: Surroundings): SalvagePlace {
  const workflowPath = path.resolve(surroundings.cwd, flags.workflow ?? 'WORKFLOW.md');
  const { settings } = loadWorkflow(workflowPath, workflowContext(surroundings, flags.stateDir));
  const { stateDir } = statePlace(workflowPath, settings, flags.stateDir, surroundings);
  const parts = {
    clock: systemClock,
    containment: 'group_only',
    daemonId: systemChance.id(),
    daemonEnv: surroundings.env,
    logger: warningsFor(surroundings),
  } as const;
  return {
    salvage: salvageFor(settings, createWorkspaceResources({ ...parts, stateDir }), parts),
    settings,
    workflowPath,
  };
}

/** A repository that cannot be read must not look like one without saved work. */
function warningsFor({ stderr }: Surroundings): Logger {
  const tell: Logger['warn'] = (message, fields = {}) => {
    const { repository = '', error } = fields;
    const why = error instanceof Error ? `: ${error.message}` : '';
    stderr.write(`baton: ${harmlessLine(`${message} ${String(repository)}${why}`)}\n`);
  };
  return { ...quietLogger, warn: tell, error: tell };
}
