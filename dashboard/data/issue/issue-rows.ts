import type { RunningRow, WaitingRow } from '../../../src/client/schema/now.ts';
import { type Placed, projects } from '../connection/live.ts';
import { placesInUse } from '../page/open-forms.ts';

/** The bands of Now whose rows have actions, in the order of the screen. */
const bands = ['needs_you', 'running', 'waiting'] as const;
export type RowBand = (typeof bands)[number];

/** The actions for a run; a message can be sent only where its agent accepts one. */
export function runningActions(row: Pick<RunningRow, 'can_steer' | 'hold_afterwards'>): readonly string[] {
  const release = row.hold_afterwards === undefined ? [] : ['issue_release'];
  return [...(row.can_steer === false ? [] : ['issue_steer']), 'issue_stop', 'issue_takeover', ...release];
}

export const waitingActions: Readonly<Record<WaitingRow['kind'], readonly string[]>> = {
  retry: ['issue_retry', 'issue_hold'],
  quota: ['issue_retry', 'issue_hold'],
  queue: ['issue_hold'],
};

/** The place of a row on Now, unique even among the rows of one issue. */
function rowPlace(band: RowBand, { project, row }: Placed<{ readonly key: string }>): string {
  return `${band}/${project}/${row.key}`;
}

/** The current rows of an issue: where they are, and which actions they allow. */
function rowsOf(
  project: string,
  issueId: string,
): readonly { readonly place: string; readonly actions: readonly string[] }[] {
  const rows = projects.value?.get(project);
  if (rows === undefined) return [];
  return [
    ...[...rows.needs_you.values()].map((row) => ({ band: 'needs_you' as const, row, actions: row.actions })),
    ...[...rows.running.values()].map((row) => ({ band: 'running' as const, row, actions: runningActions(row) })),
    ...[...rows.waiting.values()].map((row) => ({ band: 'waiting' as const, row, actions: waitingActions[row.kind] })),
  ]
    .filter(({ row }) => row.issue_id === issueId)
    .map(({ band, row, actions }) => ({ place: rowPlace(band, { project, row }), actions }));
}

/** The actions that the current rows of an issue allow; each once. */
export function offeredNow(project: string, issueId: string): readonly string[] {
  return [...new Set(rowsOf(project, issueId).flatMap(({ actions }) => actions))];
}

/**
 * Whether a row is the one that shows the result of an action: an issue that asks and runs has two. It is the row where
 * the user acted, or the first existing one when that has gone.
 */
export function isFeedbackRow(project: string, issueId: string, place: string, askedAt: string): boolean {
  if (place === askedAt) return true;
  if (placesInUse().has(askedAt)) return false;
  const places = rowsOf(project, issueId).map((row) => row.place);
  return !places.includes(askedAt) && places[0] === place;
}

const lastSeen = new Map<string, Placed<unknown>>();

export interface KeptRow<R> {
  readonly placed: Placed<R>;
  readonly place: string;
  /** The row has gone; it stays because the user is typing in it. */
  readonly isGone: boolean;
}

/** The rows of a band, with those that have gone while the user was typing there. */
export function withKept<R extends { readonly key: string }>(
  band: RowBand,
  rows: readonly Placed<R>[],
): readonly KeptRow<R>[] {
  const inUse = placesInUse();
  const there = rows.map((placed) => ({ placed, place: rowPlace(band, placed), isGone: false }));
  for (const { place, placed } of there) if (inUse.has(place)) lastSeen.set(place, placed);
  for (const place of lastSeen.keys()) if (!inUse.has(place)) lastSeen.delete(place);
  const gone = [...lastSeen]
    .filter(([place]) => place.startsWith(`${band}/`))
    // A place of this band belongs only to rows of this band.
    .map(([place, placed]) => ({ placed: placed as Placed<R>, place, isGone: true }))
    // A project that is not shown has not lost its rows.
    .filter(({ placed: { project, row } }) => !projects.value?.get(project)?.[band].has(row.key));
  return [...there, ...gone];
}
