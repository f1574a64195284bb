import type { Recovery } from '../../store/recovery.ts';
import type { RunRecord } from '../../store/tables/runs.ts';
import type { WorkspaceEntry } from '../../workspace/workspace.ts';
import type { BaseParts } from '../parts.ts';

/** An existing workspace, with what the store knows about it. */
export interface FoundWorkspace {
  readonly entry: WorkspaceEntry;
  /** The run that started last in it; null when none is known. */
  readonly run: RunRecord | null;
  /** Who has its issue, as the end of a sentence; null when the issue is free. */
  readonly claim: string | null;
  readonly isPinned: boolean;
  /** Since when no run worked in it. */
  readonly idleSince: number;
}

export type FindParts = Pick<BaseParts, 'clock' | 'project' | 'store'>;

/**
 * What the store knows about workspaces: their issues, and whether those have a claim, a retry, a hold or an unfinished
 * run.
 */
export async function findWorkspaces(
  { store, clock, project }: FindParts,
  entries: readonly WorkspaceEntry[],
): Promise<readonly FoundWorkspace[]> {
  if (entries.length === 0) return [];
  const paths = entries.map(({ path }) => path);
  const runs = new Map((await store.runs.latestInWorkspaces(project, paths)).map((run) => [run.workspace, run]));
  const claims = claimTexts(await store.recovery(project, clock.now()));
  const pinned = new Set((await store.pins.list(project)).map(({ issueId }) => issueId));
  return entries.map((entry) => {
    const run = runs.get(entry.path) ?? null;
    return {
      entry,
      run,
      claim: run === null ? null : (claims.get(run.issueId) ?? null),
      isPinned: run !== null && pinned.has(run.issueId),
      idleSince: run?.finish?.endedAt ?? entry.changedAt,
    };
  });
}

/** Why each issue is in use, the strongest reason last. */
function claimTexts({ claims, retries, held, unfinishedRuns }: Recovery): ReadonlyMap<string, string> {
  return new Map([
    ...claims.map(({ issueId }) => [issueId, 'its issue is claimed'] as const),
    ...retries.map(({ issueId }) => [issueId, 'its issue waits for a retry'] as const),
    ...held.map(({ issueId, reason }) => [issueId, `its issue is on hold: ${reason}`] as const),
    ...unfinishedRuns.map(({ issueId }) => [issueId, 'its run has not ended'] as const),
  ]);
}
