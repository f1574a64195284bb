import { shellWord } from '../shell-word.ts';

/** The whole command line that brings saved work back, for a person to paste into any shell, in any folder. */
export function restoreCommand(
  name: string,
  place: { readonly workflowPath: string; readonly stateDir?: string; readonly allProjects?: boolean },
): string {
  const { workflowPath, stateDir, allProjects } = place;
  const reach = allProjects === true ? ' --all-projects' : '';
  const state = stateDir === undefined ? '' : ` --state-dir ${word(stateDir)}`;
  return `baton salvage restore ${word(name)} --workflow ${word(workflowPath)}${state}${reach}`;
}

/** Quoted only where it has to be. */
function word(text: string): string {
  return /^[A-Za-z0-9_./+:@%][A-Za-z0-9_./+:@%-]*$/.test(text) ? text : shellWord(text);
}
