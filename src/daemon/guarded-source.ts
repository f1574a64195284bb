import { type BatonError, toBatonError } from '../core/baton-error.ts';
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
