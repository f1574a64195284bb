import type { Salvage as SalvageReport } from '../../server/api/schema/system.ts';
import { timeText } from '../../server/api/time-text.ts';
import type { Salvage } from '../../workspace/salvage/salvage.ts';
import { restoreCommand } from './restore-command.ts';

/** More than a person looks through. */
const mostShown = 500;

/** What `baton salvage list` tells, for the API: the newest first, each with the command that brings it back. */
export async function salvageReport(
  salvage: Pick<Salvage, 'list'>,
  place: { readonly workflowPath: string; readonly stateDir: string },
): Promise<SalvageReport> {
  const works = await salvage.list();
  return {
    saved: works.slice(0, mostShown).map(({ name, issueIdentifier, savedAt, files, commits }) => ({
      ...{ name, issue_identifier: issueIdentifier, at: timeText(savedAt), files, commits },
      restore: restoreCommand(name, place),
    })),
  };
}
