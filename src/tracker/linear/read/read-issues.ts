import * as z from 'zod';
import type { Ask } from '../../tracker.ts';
import { type CallLinear, unknownPayload } from '../call/call-linear.ts';
import { candidatesOperation, issuesByIdOperation, type ListSizes, pageSize, usualLists } from '../call/documents.ts';
import { completeLists } from './complete-lists.ts';
import { inStates, isPossibleId, withIds } from './issue-filters.ts';
import { idOf, type LinearRecord, type Reading, readRecord } from './linear-record.ts';
import { nodes, pageInfo, pagesOf } from './read-pages.ts';

export interface ReadParts {
  readonly call: CallLinear;
  readonly projectSlug: string;
}

export const issuePage = z.object({ nodes, pageInfo });

const candidatesPage = z.object({ issues: issuePage });
const issuesById = z.object({ issues: z.object({ nodes }) });

/**
 * All readable issues in these states, page by page, complete, in Linear's order; an issue on two pages comes twice.
 */
export async function readCandidates(
  states: readonly string[],
  parts: ReadParts,
  ask?: Ask,
): Promise<readonly Reading[]> {
  const { call, projectSlug } = parts;
  const all: Reading[] = [];
  const pages = pagesOf(candidatesOperation, async (after) => {
    const variables = { filter: inStates(projectSlug, states), first: pageSize, after, ...usualLists };
    return (await call(candidatesOperation, variables, candidatesPage, ask)).issues;
  });
  for await (const page of pages) {
    all.push(...(await completeLists(page.nodes.map(readRecord), usualLists, parts, ask)));
  }
  return all;
}

/** What Linear answered to one request by id. */
export interface Batch {
  readonly ids: readonly string[];
  readonly readings: readonly Reading[];
}

/** Reads these ids, complete, request by request. A value that cannot be an id is left out without a request. */
export async function readBatches(
  ids: readonly string[],
  sizes: ListSizes,
  parts: ReadParts,
  ask?: Ask,
): Promise<readonly Batch[]> {
  const possible = [...new Set(ids)].filter(isPossibleId);
  const batches: Batch[] = [];
  for (let at = 0; at < possible.length; at += pageSize) {
    const batch = possible.slice(at, at + pageSize);
    const variables = { filter: withIds(parts.projectSlug, batch), first: batch.length, ...sizes };
    const { issues } = await parts.call(issuesByIdOperation, variables, issuesById, ask);
    batches.push({ ids: batch, readings: await completeLists(issues.nodes.map(readRecord), sizes, parts, ask) });
  }
  return batches;
}

/**
 * The records with these ids, by id; a missing one does not exist. A malformed record fails the whole read, because the
 * caller asked for it.
 */
export async function readByIds(
  ids: readonly string[],
  sizes: ListSizes,
  parts: ReadParts,
  ask?: Ask,
): Promise<ReadonlyMap<string, LinearRecord>> {
  const found = new Map<string, LinearRecord>();
  for (const batch of await readBatches(ids, sizes, parts, ask)) {
    for (const record of requireWhole(batch)) found.set(record.id, record);
  }
  return found;
}

/** The requested records. Throws if one of them is malformed, or if a malformed record may be one of them. */
function requireWhole({ ids, readings }: Batch): readonly LinearRecord[] {
  const asked = new Set(ids);
  return readings.flatMap((reading) => {
    const id = idOf(reading);
    if (id !== null && !asked.has(id)) return [];
    if ('record' in reading) return reading.record.isArchivedOrDeleted ? [] : [reading.record];
    throw unknownPayload(issuesByIdOperation, `the record of the issue ${id ?? 'without an id'} is malformed`);
  });
}
