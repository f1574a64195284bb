import { shellArgument } from '../core/text/shell-argument.ts';
import type { WorkplaceFlags } from '../daemon/workplace.ts';

/** The options with which a printed command finds the same project, with a space before each; empty where none is needed. */
export function placeFlags({ workflow, stateDir }: WorkplaceFlags): string {
  const file = workflow === undefined || workflow === 'WORKFLOW.md' ? '' : ` --workflow ${shellArgument(workflow)}`;
  return `${file}${stateDir === undefined ? '' : ` --state-dir ${shellArgument(stateDir)}`}`;
}
