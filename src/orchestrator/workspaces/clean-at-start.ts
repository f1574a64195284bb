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
 * Cleanup). Those that a run is known of are swept, by the ids of their issues. Only where there are others is the tracker
 * asked for everything that is over, which in an old project may be much. A tracker that does not answer is only a warning.
 */
export async function cleanAtStart(parts: CleanAtStartParts): Promise<void> {
  const { source, stopping, cleaner, sweep } = parts;
  const { settings } = source.read().workflow;
  const workspaces = parts.workspacesFor(settings);
  await workspaces.finishRemovals(settings.workspace.root);
  // A root that cannot be read is told by the sweep.
  const entries = await workspaces.list(settings.workspace.root).catch(() => []);
  // Also those that a kill left half made: their run has not written down where they are.
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
