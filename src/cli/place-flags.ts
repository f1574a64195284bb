import path from 'node:path';
import { shellArgument } from '../core/text/shell-argument.ts';
import type { WorkplaceFlags } from '../daemon/workplace.ts';

/** The options with which a printed command finds the same project, with a space before each; empty where none is needed. */
export function placeFlags({ workflow, stateDir }: WorkplaceFlags): string {
  const file = workflow === undefined || workflow === 'WORKFLOW.md' ? '' : ` --workflow ${shellArgument(workflow)}`;
  return `${file}${stateDir === undefined ? '' : ` --state-dir ${shellArgument(stateDir)}`}`;
}

/** The same for a command that is run in another folder than this one. */
export function placeFlagsIn(
  folder: string,
  { workflow = 'WORKFLOW.md', stateDir }: WorkplaceFlags,
  cwd: string,
): string {
  const file = path.resolve(cwd, workflow);
  return placeFlags({
    workflow: path.dirname(file) === folder ? path.basename(file) : file,
    ...(stateDir === undefined ? {} : { stateDir: path.resolve(cwd, stateDir) }),
  });
}
