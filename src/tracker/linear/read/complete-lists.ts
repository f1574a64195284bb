import * as z from 'zod';
import type { Ask } from '../../tracker.ts';
import type { CallLinear } from '../call/call-linear.ts';
import {
  issueLabelsOperation,
  issueRelationsOperation,
  issuesByIdOperation,
  type ListSizes,
  longLists,
  longListsBatch,
  type Operation,
} from '../call/documents.ts';
import { type IssueFilter, withIds } from './issue-filters.ts';
import { idOf, type LinearRecord, labelNodes, type Reading, readRecord, relationNodes } from './linear-record.ts';
import { nodes, pageInfo, pagesOf } from './read-pages.ts';

interface Parts {
  readonly call: CallLinear;
  readonly projectSlug: string;
}

const issuesById = z.object({ issues: z.object({ nodes }) });

/**
 * Returns the readings with complete labels and relations. Issues whose lists filled their page are read again, many at
 * once with long pages; a list that fills a long page too is read separately. An issue that is gone by then is left
 * out.
 */
export async function completeLists(
  readings: readonly Reading[],
  sizes: ListSizes,
  { call, projectSlug }: Parts,
  ask?: Ask,
): Promise<readonly Reading[]> {
  const unfinished = readings.flatMap((each) =>
    'record' in each && isUnfinished(each.record, sizes) ? each.record.id : [],
  );
  if (unfinished.length === 0) return readings;
  const again = new Map<string, Reading>();
  for (let at = 0; at < unfinished.length; at += longListsBatch) {
    const ids = unfinished.slice(at, at + longListsBatch);
    const variables = { filter: withIds(projectSlug, ids), first: ids.length, ...longLists };
    const { issues } = await call(issuesByIdOperation, variables, issuesById, ask);
    for (const reading of issues.nodes.map(readRecord)) {
      const whole = 'record' in reading ? { record: await wholeRecord(reading.record) } : reading;
      const id = idOf(reading);
      if (id !== null) again.set(id, whole);
    }
  }
  const asked = new Set(unfinished);
  return readings.flatMap((reading) => {
    const id = idOf(reading);
    return id === null || !asked.has(id) ? reading : (again.get(id) ?? []);
  });

  async function wholeRecord(record: LinearRecord): Promise<LinearRecord> {
    const filter = withIds(projectSlug, [record.id]);
    const { labels, relations } = record;
    return {
      ...record,
      labels:
        labels.length < longLists.labelFirst
          ? labels
          : await wholeList(call, issueLabelsOperation, filter, labelNodes, ask),
      relations:
        relations.length < longLists.relationFirst
          ? relations
          : await wholeList(call, issueRelationsOperation, filter, relationNodes, ask),
    };
  }
}

/** Whether a list filled its page, so that there may be more of it. Archived and deleted issues are not completed. */
function isUnfinished({ labels, relations, isArchivedOrDeleted }: LinearRecord, sizes: ListSizes): boolean {
  return !isArchivedOrDeleted && (labels.length >= sizes.labelFirst || relations.length >= sizes.relationFirst);
}

async function wholeList<Entry>(
  call: CallLinear,
  operation: Operation,
  filter: IssueFilter,
  entries: z.ZodType<readonly Entry[]>,
  ask?: Ask,
): Promise<readonly Entry[]> {
  const found = z.object({
    issues: z.object({ nodes: z.array(z.object({ list: z.object({ nodes: entries, pageInfo }) })) }),
  });
  const gone = { nodes: [], pageInfo: { hasNextPage: false } };
  const whole: Entry[] = [];
  const pages = pagesOf(operation, async (after) => {
    const { issues } = await call(operation, { filter, after }, found, ask);
    return issues.nodes[0]?.list ?? gone;
  });
  for await (const page of pages) whole.push(...page.nodes);
  return whole;
}
