import { BatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import type { Workflow, WorkflowSource } from '../core/workflow.ts';
import { guardedSource } from './guarded-source.ts';

/**
 * The workflow file as a daemon can go on with it: a later reading that asks for another project or store than the daemon
 * was started with is a bad edit like any other.
 */
export function workableSource(source: WorkflowSource, logger: Logger): WorkflowSource {
  const first = source.read().workflow;
  return guardedSource(source, (workflow) => refuseOtherPlace(workflow, first), logger);
}

/** Project and store are chosen once: a daemon that changed them under way would lose sight of what it has begun. */
function refuseOtherPlace({ path, settings }: Workflow, first: Workflow): void {
  const changed = [
    ...(settings.project.name === first.settings.project.name ? [] : ['project.name']),
    ...(settings.store.url?.reveal() === first.settings.store.url?.reveal() ? [] : ['store.url']),
  ];
  if (changed.length === 0) return;
  throw new BatonError('restart_needed', `${path}: ${changed.join(' and ')} cannot be changed while Baton runs.`, {
    details: { keys: changed },
  });
}
