import type { FinishedRow, NeedsYou, Now, RunningRow, WaitingRow } from '../../../client/schema/now.ts';
import { cellText } from '../../cell-text.ts';

/** The lists in the order of the screen: what needs a person comes first. */
export const shownLists = ['needs_you', 'running', 'waiting', 'finished'] as const;

export type ShownList = (typeof shownLists)[number];

/** One row of a list, of any project; its identifier is harmless for a terminal. */
export type TopRow = {
  /** Unique among all rows. */
  readonly key: string;
  readonly project: string;
  /** Null when the row is not about an issue. */
  readonly issueId: string | null;
  /** Empty when the row is not about an issue. */
  readonly identifier: string;
} & (
  | { readonly list: 'needs_you'; readonly of: NeedsYou }
  | { readonly list: 'running'; readonly of: RunningRow }
  | { readonly list: 'waiting'; readonly of: WaitingRow }
  | { readonly list: 'finished'; readonly of: FinishedRow }
);

/** All rows in the order of the screen; with a filter, only those that contain it somewhere. */
export function topRows(nows: readonly Now[], filter: string): readonly TopRow[] {
  const wanted = filter.trim().toLowerCase();
  const rows: TopRow[] = [];
  for (const now of nows) {
    for (const of of now.needs_you) rows.push({ ...nameOf(now, 'needs_you', of), list: 'needs_you', of });
    for (const of of now.running) rows.push({ ...nameOf(now, 'running', of), list: 'running', of });
    for (const of of now.waiting) rows.push({ ...nameOf(now, 'waiting', of), list: 'waiting', of });
    for (const of of now.finished) rows.push({ ...nameOf(now, 'finished', of), list: 'finished', of });
  }
  const inOrder = rows.toSorted((left, right) => shownLists.indexOf(left.list) - shownLists.indexOf(right.list));
  return wanted === '' ? inOrder : inOrder.filter((row) => saidBy(row).toLowerCase().includes(wanted));
}

/** The selected row: by its key, and by its issue in case it moves to another list. */
export interface Selection {
  readonly key: string;
  readonly project: string;
  readonly issueId: string | null;
  readonly at: number;
}

/**
 * The selected row: the same as before; else a row of the same issue in any list; else the row at the same place. Null
 * only when there are no rows.
 */
export function selectedRow(rows: readonly TopRow[], selection: Selection | null): TopRow | null {
  if (selection === null) return rows[0] ?? null;
  return (
    rows.find(({ key }) => key === selection.key) ??
    rows.find((row) => isOf(row, selection)) ??
    rows[Math.min(selection.at, rows.length - 1)] ??
    null
  );
}

export function selectionOf(rows: readonly TopRow[], row: TopRow | null): Selection | null {
  return row === null
    ? null
    : { key: row.key, project: row.project, issueId: row.issueId, at: Math.max(0, rows.indexOf(row)) };
}

/** Whether a row is about that issue. */
export function isOf(row: TopRow, { project, issueId }: Pick<Selection, 'project' | 'issueId'>): boolean {
  return issueId !== null && row.issueId === issueId && row.project === project;
}

function nameOf({ project }: Now, list: ShownList, of: TopRow['of']): Omit<TopRow, 'list' | 'of'> {
  const key = `${project}\n${list}\n${of.key}`;
  return { key, project, issueId: of.issue_id, identifier: cellText(of.issue_identifier ?? '') };
}

function saidBy({ project, list, of }: TopRow): string {
  const words = [project, of.issue_identifier ?? '', of.title ?? ''];
  if (list === 'running') words.push(of.stage, of.state, of.last_message ?? '', of.account ?? '');
  else if (list === 'finished') words.push(of.state);
  else words.push(of.kind, of.code ?? '', of.reason);
  return words.join('\n');
}
