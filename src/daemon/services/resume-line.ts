import type { Settings } from '../../core/settings.ts';
import type { RunRecord } from '../../store/tables/runs.ts';
import { resumeCommand } from '../resume-command.ts';
import { gitDirectoryOf } from './git-directory-of.ts';

/** The line for a shell that opens the conversation of a run by hand, as `baton takeover` prints it; null where there is none. */
export async function resumeLine(settings: Settings, run: RunRecord, stateDir: string): Promise<string | null> {
  const gitDir = run.workspace === null ? null : await gitDirectoryOf(run.workspace, stateDir);
  return resumeCommand(settings, run, gitDir);
}
