import { toBatonError } from '../../core/baton-error.ts';
import type { Issue } from '../../core/issue/issue.ts';
import { type CleanerParts, pathOf, type WorkspaceCleaner } from './clean-workspaces.ts';
import { findWorkspaces } from './find-workspaces.ts';
import { everything, type WorkspaceSweep } from './sweep-workspaces.ts';

export interface CleanAtStartParts extends CleanerParts {
  readonly cleaner: WorkspaceCleaner;
  readonly sweep: WorkspaceSweep;
}

/**
 * At the start: removes the workspaces of issues that ended while no daemon ran (seed 2, Startup Terminal Workspace
 * Cleanup). Workspaces with a known run are swept by the ids of their issues. Only if there are others, the tracker is
 * asked for all finished issues, which may be many in an old project. A tracker that does not answer is only a warning.
 */
export async function cleanAtStart(parts: CleanAtStartParts): Promise<void> {
  const { source, stopping, cleaner, sweep } = parts;
  const { settings } = source.read().workflow;
  const workspaces = parts.workspacesFor(settings);
  await workspaces.finishRemovals(settings.workspace.root);
  // The sweep reports a root that cannot be read.
  const entries = await workspaces.list(settings.workspace.root).catch(() => []);
  // Includes workspaces that a kill left half made: their run has not stored the path.
  const found = await findWorkspaces(
    parts,
    entries.filter(({ state }) => state !== 'removing'),
  );
  await sweep.run(everything);
  const strangers = new Map(found.flatMap(({ run, entry }) => (run === null ? [[entry.path, entry.changedAt]] : [])));
  if (strangers.size === 0) return;
  for (const issue of await readFinished(parts)) {
    if (stopping.aborted) return;
    const path = pathOf(() => workspaces.pathOf(issue.identifier));
    const changedAt = path === null ? undefined : strangers.get(path);
    if (path === null || changedAt === undefined) continue;
    await cleaner.clean({ issue, path, runId: null, attempt: null, settings, changedAt });
  }
}

async function readFinished({ source, reads, logger, stopping }: CleanAtStartParts): Promise<readonly Issue[]> {
  const { terminalStates } = source.read().workflow.settings.tracker;
  try {
    return await reads.byStates(terminalStates, { job: 'start', cause: 'sweep' });
  } catch (thrown) {
    const error = toBatonError(thrown);
    if (!stopping.aborted) logger.warn('finished_issues_unreadable', { error });
    return [];
  }
}
