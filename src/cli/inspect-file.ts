import { workflowContext } from '../daemon/adapters.ts';
import type { Surroundings } from '../daemon/surroundings.ts';
import { whyNotListening } from '../server/listener.ts';
import { inspectWorkflow, type WorkflowInspection } from '../workflow/inspect-workflow.ts';
import { errorAt } from '../workflow/workflow-problems.ts';

/**
 * Everything that is wrong with a workflow file on this machine. `validate`, `doctor`, `start` and its `--dry-run` report
 * exactly this.
 */
export async function inspectFile(
  file: string,
  stateDir: string | undefined,
  surroundings: Surroundings,
): Promise<WorkflowInspection> {
  const found = inspectWorkflow(file, workflowContext(surroundings, stateDir));
  const server = found.workflow?.settings.server;
  const error = server?.enabled ? await whyNotListening(server.host) : null;
  if (error === null) return found;
  const unusable = errorAt('server.host', `server.host cannot be used: ${error.message}`, {
    code: error.code,
    problem: 'host_unusable',
  });
  return { ...found, problems: [unusable, ...found.problems] };
}
