import type { Settings } from '../../core/settings.ts';
import type { RunRecord } from '../../store/tables/runs.ts';
import { adaptersIn } from '../adapters.ts';
import type { Surroundings } from '../surroundings.ts';
import { gitDirectoryOf } from './git-directory-of.ts';

/**
 * The line for a shell that opens the conversation of a run by hand, with what its turns could write to; null where the
 * backend has none, or the run had no session: then only the workspace can be opened.
 */
export async function resumeLine(
  settings: Settings,
  run: RunRecord,
  stateDir: string,
  surroundings: Pick<Surroundings, 'adapters'>,
): Promise<string | null> {
  const { workspace, threadId, backend } = run;
  // A run of an earlier version may have had a backend that is not there any more.
  const resume = adaptersIn(surroundings).backends.find(({ name }) => name === backend)?.resume;
  if (resume === undefined || workspace === null || threadId === null) return null;
  const account = settings.agent.accounts.find((each) => each.backend === backend && each.name === run.account);
  const gitDir = await gitDirectoryOf(workspace, stateDir);
  return resume({ workspace, threadId, home: account?.home ?? null, gitDir }, settings);
}
