import { BatonError } from '../../core/baton-error.ts';
import type { StoreTables } from '../../store/store.ts';
import type { BoardIssue } from '../../store/tables/board-issues.ts';
import type { BoardParts } from './board.ts';
import { changeEntries, type IssueFacts, issueFacts } from './history-entries.ts';
import { type ChangeBy, changeBy, checked } from './issue-fields.ts';
import { requireIssue } from './require-issue.ts';

/** Each lost race means that somebody else's change was stored, so more than a few in a row are a sign of a storm. */
const mostAttempts = 10;

/**
 * Makes one change of one issue: what it did, in whatever fields, is written as history in the same transaction. `act`
 * gives the issue after the change, the same issue when nothing is to be changed, or null when the issue is not any
 * more what it was given; then everything is read and decided again.
 */
export async function changeIssue(
  parts: BoardParts,
  id: string,
  by: ChangeBy,
  act: (tables: StoreTables, before: BoardIssue, at: number) => Promise<BoardIssue | null>,
): Promise<BoardIssue> {
  const { author, reason } = checked(changeBy, by, 'change');
  const { store, project, clock } = parts;
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    const done = await store.transaction(async (tables) => {
      await tables.boardIssues.lock(project);
      const at = clock.now();
      const before = await requireIssue(tables, project, id);
      const after = await act(tables, before, at);
      if (after === null) return null;
      const entries = changeEntries(await readFacts(tables, project, before), await readFacts(tables, project, after), {
        author,
        reason,
        at,
      });
      for (const entry of entries) await tables.boardHistory.add({ project, issueId: id }, entry);
      return { after, changed: entries.length > 0 };
    });
    if (done === null) continue;
    if (done.changed) parts.onChange();
    return done.after;
  }
  throw new BatonError('tracker_request', `The issue with the id "${id}" changes too often to be changed now.`);
}

/** The facts of an issue, its parent by identifier. */
export async function readFacts(tables: StoreTables, project: string, issue: BoardIssue): Promise<IssueFacts> {
  if (issue.parentId === null) return issueFacts(issue, null);
  return issueFacts(issue, (await requireIssue(tables, project, issue.parentId)).identifier);
}
