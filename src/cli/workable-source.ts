import { BatonError, toBatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import type { Workflow, WorkflowReading, WorkflowSource } from '../core/workflow.ts';
import { refuseUnsupported } from './adapters.ts';

/**
 * The workflow file as this version can work with it. A later reading that asks for a tracker or an agent that is not
 * there yet, or for another project or store than the daemon was started with, is a bad edit like any other: told once, and the last one that could be worked with stays in force. The
 * first reading has to be good; otherwise this throws.
 */
export function workableSource(source: WorkflowSource, logger: Logger): WorkflowSource {
  const first = source.read().workflow;
  let last = first;
  refuseUnsupported(first);
  let refused: { readonly revision: string; readonly problem: BatonError } | null = null;
  return {
    read(): WorkflowReading {
      const { workflow, problem } = source.read();
      if (refused?.revision !== workflow.revision) {
        refused = null;
        try {
          refuseUnsupported(workflow);
          refuseOtherPlace(workflow, first);
          last = workflow;
        } catch (thrown) {
          refused = { revision: workflow.revision, problem: toBatonError(thrown) };
          logger.error('The workflow file asks for what this daemon cannot do; the last good one stays in force.', {
            error: refused.problem,
          });
        }
      }
      return { workflow: last, problem: problem ?? refused?.problem ?? null };
    },
  };
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
