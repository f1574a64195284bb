import { BatonError } from '../core/baton-error.ts';
import type { Problem } from '../core/problem.ts';
import { type LoadedWorkflow, loadWorkflow } from './load-workflow.ts';
import { tryTemplates } from './template/try-templates.ts';
import type { WorkflowContext } from './workflow-context.ts';
import { errorAt } from './workflow-problems.ts';

/** All there is to say about a workflow file. */
export interface WorkflowInspection {
  /** Null when the file cannot be used. */
  readonly workflow: LoadedWorkflow | null;
  /** Errors and warnings, those of a template that loads but cannot render among them. */
  readonly problems: readonly Problem[];
}

/** Looks a workflow file over as `baton validate` does: nothing is thrown, everything is told. */
export function inspectWorkflow(path: string, context: WorkflowContext): WorkflowInspection {
  try {
    const workflow = loadWorkflow(path, context);
    return { workflow, problems: [...tryTemplates(workflow), ...workflow.warnings] };
  } catch (thrown) {
    if (!(thrown instanceof BatonError)) throw thrown;
    return { workflow: null, problems: problemsIn(thrown) };
  }
}

/** The error of several settings carries each of them; any other is one problem of the file as a whole. */
function problemsIn(error: BatonError): readonly Problem[] {
  const { problems } = error.details;
  // Only `toWorkflowError` sets this detail, to the list it was given.
  if (Array.isArray(problems)) return problems as Problem[];
  return [errorAt(null, error.message, { ...error.details, code: error.code })];
}
