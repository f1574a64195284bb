import { type BatonError, toBatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import type { WorkflowReading, WorkflowSource } from '../core/workflow.ts';
import { refuseUnsupported } from './adapters.ts';

/**
 * The workflow file as this version can work with it. A later reading that asks for a tracker or an agent that is not
 * there yet is a bad edit like any other: told once, and the last one that could be worked with stays in force. The
 * first reading has to be good; otherwise this throws.
 */
export function workableSource(source: WorkflowSource, logger: Logger): WorkflowSource {
  let last = source.read().workflow;
  refuseUnsupported(last);
  let refused: { readonly revision: string; readonly problem: BatonError } | null = null;
  return {
    read(): WorkflowReading {
      const { workflow, problem } = source.read();
      if (refused?.revision !== workflow.revision) {
        refused = null;
        try {
          refuseUnsupported(workflow);
          last = workflow;
        } catch (thrown) {
          refused = { revision: workflow.revision, problem: toBatonError(thrown) };
          logger.error(
            'The workflow file asks for what this version does not have; the last good one stays in force.',
            {
              error: refused.problem,
            },
          );
        }
      }
      return { workflow: last, problem: problem ?? refused?.problem ?? null };
    },
  };
}
