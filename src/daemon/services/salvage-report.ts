import type { Salvage as SalvageReport } from '../../client/schema/system.ts';
import { shellArgument } from '../../core/text/shell-argument.ts';
import { timeText } from '../../core/text/time-text.ts';
import type { Salvage } from '../../workspace/salvage/salvage.ts';

/** The complete command line that restores saved work, to be pasted into any shell, in any folder. */
export function restoreCommand(
  name: string,
  place: { readonly workflowPath: string; readonly stateDir?: string; readonly allProjects?: boolean },
): string {
  const { workflowPath, stateDir, allProjects } = place;
  const reach = allProjects === true ? ' --all-projects' : '';
  const state = stateDir === undefined ? '' : ` --state-dir ${shellArgument(stateDir)}`;
  return `baton salvage restore ${shellArgument(name)} --workflow ${shellArgument(workflowPath)}${state}${reach}`;
}

/** More than a person reads. */
const mostShown = 500;

/** The report of `baton salvage list`, for the API: the newest first, each with the command that restores it. */
export async function salvageReport(
  salvage: Pick<Salvage, 'list'>,
  place: { readonly workflowPath: string; readonly stateDir: string },
): Promise<SalvageReport> {
  const works = await salvage.list();
  return {
    saved: works.slice(0, mostShown).map(({ name, issueIdentifier, savedAt, files, commits }) => ({
      name,
      issue_identifier: issueIdentifier,
      at: timeText(savedAt),
      files,
      commits,
      restore: restoreCommand(name, place),
    })),
  };
}
