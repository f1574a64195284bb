import type { Issue } from '../../core/issue/issue.ts';
import type { PartOfIssue } from '../../runner/runner.ts';
import type { Store } from '../../store/store.ts';
import type { BaseParts } from '../parts.ts';
import type { TrackerReads } from '../poll/tracker-reads.ts';

export interface ParentBriefParts extends Pick<BaseParts, 'project'> {
  readonly store: Pick<Store, 'plans' | 'pullRequests'>;
  readonly reads: TrackerReads;
}

/** What became of the parts of an issue that was split, in the order of the plan; empty: it was not. */
export async function partsOfIssue(
  { project, reads, store }: ParentBriefParts,
  issueId: string,
): Promise<readonly PartOfIssue[]> {
  const { plan } = await store.plans.factsOf({ project, issueId });
  const ids = plan?.children.map(({ id }) => id) ?? [];
  if (plan === null || ids.length === 0) return [];
  const now: ReadonlyMap<string, Issue | null> = await reads.byIds(ids, { job: 'planner', cause: 'revalidation' });
  const pulls = await store.pullRequests.latestOfIssues(project, ids);
  return plan.children.map(({ id, identifier, title }) => {
    const pull = pulls.find((each) => each.issueId === id);
    return {
      identifier: now.get(id)?.identifier ?? identifier ?? id,
      title: now.get(id)?.title ?? title,
      // Null: the tracker does not have it any more.
      state: now.get(id)?.state ?? null,
      change:
        pull === undefined
          ? null
          : { title: pull.title, branch: pull.branch, isMerged: pull.merged !== null, url: pull.url },
    };
  });
}
