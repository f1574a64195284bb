import * as z from 'zod';
import type { Blocker } from '../../../core/issue/issue.ts';
import type { Ask } from '../../tracker.ts';
import { childrenBatch, childrenOperation } from '../call/documents.ts';
import { isPossibleId, withIds } from './issue-filters.ts';
import { linkedIssue } from './linear-record.ts';
import type { ReadParts } from './read-issues.ts';

const answer = z.object({
  issues: z.object({
    nodes: z.array(
      z.object({
        id: z.string(),
        children: z.object({ nodes: z.array(linkedIssue), pageInfo: z.object({ hasNextPage: z.boolean() }) }),
      }),
    ),
  }),
});

/** Stands for the children beyond a page: they exist, and their states are unknown. */
const others: Blocker = { id: null, identifier: null, state: null };

/** The children of each issue, in any project, with one request for five issues. Archived children are finished. */
export async function readChildren(
  ids: readonly string[],
  { call, projectSlug }: ReadParts,
  ask?: Ask,
): Promise<ReadonlyMap<string, readonly Blocker[]>> {
  ask?.signal?.throwIfAborted();
  const wanted = [...new Set(ids)].filter(isPossibleId);
  const found = new Map<string, readonly Blocker[]>();
  for (let at = 0; at < wanted.length; at += childrenBatch) {
    const filter = withIds(projectSlug, wanted.slice(at, at + childrenBatch));
    const { issues } = await call(childrenOperation, { filter }, answer, ask);
    for (const { id, children } of issues.nodes)
      found.set(id, children.pageInfo.hasNextPage ? [...children.nodes, others] : children.nodes);
  }
  return found;
}
