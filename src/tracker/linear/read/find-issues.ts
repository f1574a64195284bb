import type { Clock } from '../../../clock/clock.ts';
import type { Ask } from '../../tracker.ts';
import { mostRiding, shortLists } from '../call/documents.ts';
import { addListed, addRequested, type CollectedRecords, noRecords } from '../snapshot/collected-records.ts';
import type { Known } from '../snapshot/next-changes-read.ts';
import { leftByGone, nextBlocked } from '../snapshot/poll-state.ts';
import { isPossibleId } from './issue-filters.ts';
import { type ReadParts, readBatches } from './read-issues.ts';
import { type ChangesRead, type ChangesRequest, type ProjectRead, readAllIssues, readChanges } from './read-project.ts';
import type { DispatchRules } from './to-issue.ts';

/** The normalised wish of a poll. */
export interface Wanted {
  /** Normalised, sorted. */
  readonly states: readonly string[];
  readonly spelled: readonly string[];
  readonly watched: readonly string[];
  readonly welcome: readonly string[];
  readonly rules: DispatchRules;
}

/** The result of a read: everything, or the changes since `base`. */
export type Found = FoundAll | FoundChanges;

interface FoundAll extends FoundAlong {
  readonly kind: 'all';
  readonly projectRead: ProjectRead;
  /** Whether everything was read because there were too many changes. */
  readonly isCrowded: boolean;
}

interface FoundChanges extends FoundAlong {
  readonly kind: 'changes';
  readonly base: Known;
  /** The time from which changes were read. */
  readonly since: number;
  readonly projectRead: ChangesRead;
}

interface FoundAlong {
  readonly collected: CollectedRecords;
  /** Blocked issues that were due for a re-read. */
  readonly waiting: readonly string[];
  /** The welcome issues that fit into the request. */
  readonly welcomed: readonly string[];
}

interface FindParts extends ReadParts {
  readonly clock: Clock;
}

/** Reads everything in the states, and the watched issues. */
export async function findAll(wanted: Wanted, isCrowded: boolean, parts: FindParts, ask?: Ask): Promise<FoundAll> {
  const riders = ridersOf(wanted);
  const welcomed = wanted.welcome.slice(0, mostRiding - riders.length);
  const along = [...riders, ...welcomed];
  const projectRead = await readAllIssues(wanted.spelled, along, parts, ask);
  const collected = noRecords();
  addListed(collected, projectRead.listed);
  addRequested(collected, along, projectRead.riding);
  // Listed issues have just been read.
  const others = riders.length > 0 ? [] : wanted.watched.filter((id) => !collected.records.has(id));
  await collectByIds(collected, others, parts, ask);
  return { kind: 'all', projectRead, isCrowded, collected, waiting: [], welcomed };
}

/** Reads the changes, the watched issues and some others; null when too much changed and a full read is better. */
export async function findChanges(
  base: Known,
  changes: ChangesRequest,
  wanted: Wanted,
  parts: FindParts,
  ask?: Ask,
): Promise<FoundChanges | null> {
  const { watched, welcome } = wanted;
  const riders = ridersOf(wanted);
  const waiting = nextBlocked(base, new Set(watched), mostRiding - riders.length);
  const places = mostRiding - riders.length - waiting.length;
  const welcomed = welcome.filter((id) => !waiting.includes(id)).slice(0, places);
  const along = [...riders, ...waiting, ...welcomed];
  const projectRead = await readChanges(changes, along, parts, ask);
  if (projectRead === null) return null;
  const collected = noRecords();
  addListed(collected, projectRead.listed);
  addRequested(collected, along, projectRead.riding);
  if (riders.length === 0) await collectByIds(collected, watched, parts, ask);
  await collectByIds(collected, leftByGone(base, collected), parts, ask);
  return { kind: 'changes', base, since: changes.since, projectRead, collected, waiting, welcomed };
}

/** Reads only the watched issues. */
export async function findWatched({ watched }: Wanted, parts: FindParts, ask?: Ask): Promise<CollectedRecords> {
  const collected = noRecords();
  await collectByIds(collected, watched, parts, ask);
  return collected;
}

/** Watched issues ride along if they are few; many need a separate request. */
function ridersOf({ watched }: Wanted): readonly string[] {
  return watched.length <= mostRiding ? watched.filter(isPossibleId) : [];
}

async function collectByIds(
  collected: CollectedRecords,
  ids: readonly string[],
  parts: FindParts,
  ask?: Ask,
): Promise<void> {
  for (const batch of await readBatches(ids, shortLists, parts, ask))
    addRequested(collected, batch.ids, batch.readings);
}
