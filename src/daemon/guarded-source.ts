import { BatonError, toBatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import type { Workflow, WorkflowReading, WorkflowSource } from '../core/workflow.ts';

/**
 * The source, with a say about each new reading. A later one that is refused is a bad edit like any other: told once,
 * and the last accepted one stays in force. The first has to be accepted; otherwise this throws what `accept` threw.
 */
export function guardedSource(
  source: WorkflowSource,
  accept: (workflow: Workflow) => void,
  logger: Logger,
): WorkflowSource {
  let last = source.read().workflow;
  accept(last);
  let refused: { readonly revision: string; readonly problem: BatonError } | null = null;
  return {
    read(): WorkflowReading {
      const { workflow, problem } = source.read();
      if (workflow.revision === last.revision) refused = null;
      else if (workflow.revision !== refused?.revision) {
        refused = null;
        try {
          accept(workflow);
          last = workflow;
        } catch (thrown) {
          refused = { revision: workflow.revision, problem: toBatonError(thrown) };
          logger.error('workflow_change_refused', {
            error: refused.problem,
          });
        }
      }
      return { workflow: last, problem: problem ?? refused?.problem ?? null };
    },
  };
}

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
