import * as z from 'zod';
import type { Clock } from '../../../clock/clock.ts';
import { BatonError } from '../../../core/baton-error.ts';
import type { Ask } from '../../tracker.ts';
import {
  candidatesOperation,
  changesOperation,
  changesPageSize,
  extraPlaces,
  fullReadOperation,
  moreChangesOperation,
  pageSize,
  shortLists,
} from '../call/documents.ts';
import { type ClockReading, readClocks } from '../snapshot/clock-reading.ts';
import { completeLists } from './complete-lists.ts';
import { changedSince, inProject, inStates, withIds } from './issue-filters.ts';
import { type Reading, readRecord } from './linear-record.ts';
import { issuePage, type ReadParts } from './read-issues.ts';
import { nodes, pagesOf } from './read-pages.ts';

/** The result of a read of the project: the listed issues, and those that rode along with the first request. */
export interface ProjectRead {
  readonly listed: readonly Reading[];
  readonly riding: readonly Reading[];
  /**
   * The newest change that Linear reported with the first page. Changes during the later pages are newer, so a read of
   * the changes since this time misses nothing.
   */
  readonly newest: number | null;
  /** When the first page arrived. */
  readonly at: ClockReading;
  readonly pages: number;
}

/** The result of a read of the changes, newest first. */
export interface ChangesRead extends ProjectRead {
  /** Whether the last page that was read is the last one there is. */
  readonly isWhole: boolean;
  /** The oldest change on that page. */
  readonly oldest: number | null;
}

interface ReadProjectParts extends ReadParts {
  readonly clock: Clock;
}

const riding = z.object({ nodes }).optional();
const fullRead = z.object({
  issues: issuePage,
  newest: z.object({ nodes: z.array(z.object({ updatedAt: z.string() })) }),
  projects: z.object({ nodes: z.array(z.unknown()) }),
  riding,
});
const changes = z.object({ issues: issuePage, riding });
const laterPage = z.object({ issues: issuePage });

/** Reads every issue in these states. */
export async function readAllIssues(
  states: readonly string[],
  ids: readonly string[],
  parts: ReadProjectParts,
  ask?: Ask,
): Promise<ProjectRead> {
  const { call, projectSlug } = parts;
  const variables = { filter: inStates(projectSlug, states), first: pageSize, ...shortLists };
  const extra = { project: inProject(projectSlug), slug: projectSlug, ...toRide(projectSlug, ids) };
  const first = await call(fullReadOperation, { ...variables, ...extra }, fullRead, ask);
  if ([first.projects, first.newest, first.issues].every((part) => part.nodes.length === 0))
    throw noProject(projectSlug);
  const at = readClocks(parts.clock);
  const pages = pagesOf(candidatesOperation, async (after) =>
    after === null ? first.issues : (await call(candidatesOperation, { ...variables, after }, laterPage, ask)).issues,
  );
  const listed: Reading[] = [];
  let count = 0;
  for await (const page of pages) {
    count += 1;
    listed.push(...(await completed(page, parts, ask)));
  }
  const newest = newestOf(first.newest.nodes.map(({ updatedAt }) => Date.parse(updatedAt)));
  return { listed, riding: await completed(first.riding, parts, ask), newest, at, pages: count };
}

/** A project that does not exist is an error. It must not look like an empty project. */
function noProject(slug: string): BatonError {
  return new BatonError(
    'invalid_tracker_config',
    `Linear has no project with the slug "${slug}", or the key has no access to it.`,
    {
      details: { key: 'tracker.provider.project_slug', problem: 'not_found', slug },
      nextStep:
        'Set `tracker.provider.project_slug` to the end of the address of the project in Linear. `baton doctor` suggests similar projects.',
    },
  );
}

/**
 * Reads the issues of the project that changed since that time, in any state, on at most `mostPages` pages. When there
 * are more, `isEnough` decides by the oldest change that was reached whether these pages are enough; if not, the result
 * is null.
 */
export async function readChanges(
  { since, isEnough, ...request }: ChangesRequest,
  ids: readonly string[],
  parts: ReadProjectParts,
  ask?: Ask,
): Promise<ChangesRead | null> {
  const { call, projectSlug } = parts;
  const { firstSize, laterSize, most } = pagesFor(request);
  const variables = { filter: changedSince(projectSlug, since), first: laterSize, ...shortLists };
  const extra = { first: firstSize, ...toRide(projectSlug, ids) };
  const first = await call(changesOperation, { ...variables, ...extra }, changes, ask);
  const at = readClocks(parts.clock);
  const pages = pagesOf(moreChangesOperation, async (after) =>
    after === null ? first.issues : (await call(moreChangesOperation, { ...variables, after }, laterPage, ask)).issues,
  );
  const listed: Reading[] = [];
  const reached = { pages: 0, isWhole: true, oldest: null as number | null };
  for await (const page of pages) {
    const times = timesOf(page.nodes);
    reached.pages += 1;
    reached.isWhole = !page.pageInfo.hasNextPage;
    reached.oldest = times.length === 0 ? null : Math.min(...times);
    const isLast = reached.pages === most;
    if (isLast && !reached.isWhole && !isEnough(reached.oldest)) return null;
    listed.push(...(await completed(page, parts, ask)));
    if (isLast) break;
  }
  const newest = newestOf(timesOf(first.issues.nodes));
  return { listed, riding: await completed(first.riding, parts, ask), newest, at, ...reached };
}

export interface ChangesRequest {
  /** A time of Linear's clock. */
  readonly since: number;
  /** The number of issues that are known to have changed since then. */
  readonly expected: number;
  readonly mostPages: number;
  readonly isEnough: (oldest: number | null) => boolean;
}

/**
 * The first page has a few more places than expected changes. There may be still more, also unknown ones, because a
 * full read lists only issues in the wanted states. So where only one page may be read, the rest of its size is read as
 * a second page before giving up.
 */
function pagesFor({ expected, mostPages }: Pick<ChangesRequest, 'expected' | 'mostPages'>) {
  const firstSize = Math.min(changesPageSize, expected + extraPlaces);
  const rest = changesPageSize - firstSize;
  if (mostPages === 1 && rest > 0) return { firstSize, laterSize: rest, most: 2 };
  return { firstSize, laterSize: changesPageSize, most: mostPages };
}

function timesOf(page: readonly unknown[]): readonly number[] {
  return page.map(readRecord).flatMap((reading) => ('record' in reading ? (reading.record.updatedAt ?? []) : []));
}

function toRide(slug: string, ids: readonly string[]): Readonly<Record<string, unknown>> {
  // The page size must be at least 1, even if this part of the query is left out.
  return { riding: withIds(slug, ids), ridingFirst: Math.max(1, ids.length), hasRiding: ids.length > 0 };
}

async function completed(
  page: { readonly nodes: readonly unknown[] } | undefined,
  parts: ReadParts,
  ask?: Ask,
): Promise<readonly Reading[]> {
  return completeLists((page?.nodes ?? []).map(readRecord), shortLists, parts, ask);
}

function newestOf(times: readonly number[]): number | null {
  const known = times.filter(Number.isFinite);
  return known.length === 0 ? null : Math.max(...known);
}
