import { isCommandKind, whyNotForRuns } from '../../core/command/command.ts';
import { isMeantBy } from '../../core/issue/issue.ts';
import type { Store } from '../../store/store.ts';
import type { Command } from '../../store/tables/commands.ts';

/** Why the author may not give this command, because the author is a run; null when it may. */
export async function whyNotForRun(
  { runs }: Pick<Store, 'runs'>,
  { project, kind, payload, author }: Pick<Command, 'project' | 'kind' | 'payload' | 'author'>,
): Promise<string | null> {
  if (author.kind !== 'run' || !isCommandKind(kind)) return null;
  const run = await runs.read(author.runId);
  const own = run === null || run.project !== project ? null : { id: run.issueId, identifier: run.identifier };
  return whyNotForRuns(kind, own !== null && isMeantBy(own, String(payload.issue ?? '')));
}
