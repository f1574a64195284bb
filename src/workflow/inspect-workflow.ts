import { BatonError } from '../core/baton-error.ts';
import type { Problem } from '../core/problem.ts';
import { type LoadedWorkflow, loadWorkflow } from './load-workflow.ts';
import { tryTemplates } from './template/try-templates.ts';
import type { WorkflowContext } from './workflow-context.ts';
import { errorAt } from './workflow-problems.ts';

/** The result of checking a workflow file. */
export interface WorkflowInspection {
  /** Null when the file cannot be used. */
  readonly workflow: LoadedWorkflow | null;
  /** Errors and warnings, including those of a template that loads but cannot render. */
  readonly problems: readonly Problem[];
}

/** Checks a workflow file as `baton validate` does: it reports everything and throws nothing. */
export function inspectWorkflow(path: string, context: WorkflowContext): WorkflowInspection {
  try {
    const workflow = loadWorkflow(path, context);
    return { workflow, problems: [...tryTemplates(workflow), ...workflow.warnings] };
  } catch (thrown) {
    if (!(thrown instanceof BatonError)) throw thrown;
    return { workflow: null, problems: problemsIn(thrown) };
  }
}

/** An error about several settings carries each of them; any other error is one problem of the whole file. */
function problemsIn(error: BatonError): readonly Problem[] {
  const { problems } = error.details;
  // Only `toWorkflowError` sets this detail, to its list of problems.
  if (Array.isArray(problems)) return problems as Problem[];
  return [errorAt(null, error.message, { ...error.details, code: error.code })];
}
