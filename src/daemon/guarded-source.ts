import { BatonError, toBatonError } from '../core/baton-error.ts';
import type { Logger } from '../core/logger.ts';
import type { Workflow, WorkflowReading, WorkflowSource } from '../core/workflow.ts';

/**
 * Wraps a source so that `accept` may refuse each new reading. A later reading that is refused counts as a bad edit: it
 * is reported once, and the last accepted reading stays in force. When the first reading is refused, this throws the
 * error of `accept`.
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
      const { workflow, problem, ...rest } = source.read();
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
      return { workflow: last, problem: problem ?? refused?.problem ?? null, ...rest };
    },
    takeWaiting: (revision) => source.takeWaiting?.(revision) ?? 'none_wait',
  };
}

/**
 * The workflow file restricted to edits that a running daemon can follow: a later reading that names another project or
 * store than at the start counts as a bad edit.
 */
export function workableSource(source: WorkflowSource, logger: Logger): WorkflowSource {
  const first = source.read().workflow;
  return readOnce(guardedSource(source, (workflow) => refuseOtherPlace(workflow, first), logger));
}

/** One decision asks for the settings hundreds of times, and each read looks at the file. */
function readOnce(source: WorkflowSource): WorkflowSource {
  let justRead: WorkflowReading | null = null;
  const forget = (): void => {
    justRead = null;
  };
  return {
    read: () => {
      if (justRead === null) queueMicrotask(forget);
      justRead ??= source.read();
      return justRead;
    },
    takeWaiting: (revision) => {
      forget();
      return source.takeWaiting?.(revision) ?? 'none_wait';
    },
  };
}

/** Project and store are chosen once: a daemon that changed them while running would lose track of its runs. */
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
