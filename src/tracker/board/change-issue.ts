import { BatonError } from '../../core/baton-error.ts';
import type { Author } from '../../core/issue/author.ts';
import type { BoardStatus } from '../../core/issue/board-status.ts';
import { normalizeLabels } from '../../core/issue/issue.ts';
import type { StoreTables } from '../../store/store.ts';
import type { BoardComment } from '../../store/tables/board-comments.ts';
import type { BoardIssue, BoardIssuePatch } from '../../store/tables/board-issues.ts';
import { refuseMoved } from '../refuse-moved.ts';
import type { LabelChange } from '../tracker.ts';
import type { BoardParts } from './board-parts.ts';
import { allowedMoves, boardOwner, whyMoveRefused } from './board-transitions.ts';
import { changeEntries, type IssueFacts, issueFacts } from './history-entries.ts';
import { type ChangeBy, changeBy, checked, commentBody, type IssueEdit, issueEdit } from './issue-fields.ts';
import { refuseBlockerCycle, refuseParentCycle } from './refuse-cycle.ts';
import { requireIssue } from './require-issue.ts';

/** Changes the fields that the edit names and whose values differ. */
export function editIssue(parts: BoardParts, id: string, edit: IssueEdit, by: ChangeBy): Promise<BoardIssue> {
  // A key with the value undefined means the same as a missing key: no change.
  const asked = Object.fromEntries(Object.entries(edit).filter(([, value]) => value !== undefined));
  const wanted = checked(issueEdit, asked, 'edit');
  return changeIssue(parts, id, by, async (tables, before, at) => {
    const patch = differences(before, wanted);
    if (Object.keys(patch).length === 0) return before;
    if (typeof patch.parentId === 'string') await refuseParentCycle(tables, parts.project, before, patch.parentId);
    return tables.boardIssues.update({ project: parts.project, issueId: id }, patch, at);
  });
}

function differences(before: BoardIssue, wanted: ReturnType<typeof issueEdit.parse>): BoardIssuePatch {
  const plain = (value: unknown): string => JSON.stringify(Array.isArray(value) ? value.toSorted() : value);
  const fields = Object.entries(wanted).filter(
    // The fields of an edit are a subset of the fields of an issue.
    ([field, value]) => value !== undefined && plain(value) !== plain(before[field as keyof BoardIssue]),
  );
  return Object.fromEntries(fields);
}

export function relabelIssue(
  parts: BoardParts,
  id: string,
  { add = [], remove = [] }: LabelChange,
  by: ChangeBy,
): Promise<BoardIssue> {
  return changeIssue(parts, id, by, async (tables, before, at) => {
    const gone = new Set(normalizeLabels(remove));
    const wanted = [...before.labels.filter((label) => !gone.has(label)), ...add];
    const patch = differences(before, checked(issueEdit, { labels: wanted }, 'edit'));
    if (Object.keys(patch).length === 0) return before;
    return tables.boardIssues.update({ project: parts.project, issueId: id }, patch, at);
  });
}

/**
 * Moves an issue along the transition table, from its status at that instant, or only from this one. A move to the same
 * status does nothing.
 */
export function moveIssue(
  parts: BoardParts,
  id: string,
  to: BoardStatus,
  by: ChangeBy,
  from?: BoardStatus,
): Promise<BoardIssue> {
  return changeIssue(parts, id, by, async (tables, before, at) => {
    if (before.status === to) return before;
    refuseMoved({ name: before.identifier, state: before.status }, from, to);
    refuseMove(before, to, by);
    return tables.boardIssues.setStatus({ project: parts.project, issueId: id }, { from: before.status, to }, at);
  });
}

export function refuseMove({ identifier, status }: BoardIssue, to: BoardStatus, { author }: ChangeBy): void {
  const owner = boardOwner(author);
  const why = whyMoveRefused(status, to, owner);
  if (why === null) return;
  throw new BatonError('board_move_refused', `${identifier} cannot be moved: ${why}.`, {
    details: { identifier, from: status, to, allowed: allowedMoves(status, owner) },
  });
}

export function blockIssue(parts: BoardParts, id: string, blockerId: string, by: ChangeBy): Promise<BoardIssue> {
  const { project } = parts;
  return changeIssue(parts, id, by, async (tables, before, at) => {
    const blocker = await requireIssue(tables, project, blockerId);
    await refuseBlockerCycle(tables, project, before, blocker);
    const isNew = await tables.boardIssues.addBlocker({ project, issueId: id }, blockerId);
    return isNew ? tables.boardIssues.update({ project, issueId: id }, {}, at) : before;
  });
}

export function unblockIssue(parts: BoardParts, id: string, blockerId: string, by: ChangeBy): Promise<BoardIssue> {
  const { project } = parts;
  return changeIssue(parts, id, by, async (tables, before, at) => {
    const wasThere = await tables.boardIssues.removeBlocker({ project, issueId: id }, blockerId);
    return wasThere ? tables.boardIssues.update({ project, issueId: id }, {}, at) : before;
  });
}

/** Adds a comment. A comment carries its own author and time, so history does not repeat it. */
export async function commentOnIssue(
  parts: BoardParts,
  id: string,
  body: string,
  author: Author,
): Promise<BoardComment> {
  checked(changeBy, { author }, 'change');
  const text = checked(commentBody, body, 'comment');
  const { store, project, clock } = parts;
  const comment = await store.transaction(async (tables) => {
    // Comments become visible in the order of their numbers, so that a reader who continues from the last one misses
    // none.
    await tables.boardIssues.lock(project);
    await requireIssue(tables, project, id);
    return tables.boardComments.add({ project, issueId: id }, { author, body: text, at: clock.now() });
  });
  parts.onChange();
  return comment;
}

/** Each lost race means that another change was stored, so more than a few in a row show a storm of changes. */
const mostAttempts = 10;

/**
 * Makes one change of one issue and writes every changed field as history in the same transaction. `act` returns the
 * issue after the change, the same issue when there is nothing to change, or null when the stored issue differs from
 * the one it got; then everything is read and decided again.
 */
async function changeIssue(
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
  throw new BatonError(
    'tracker_request',
    `Failed to change the issue with the id "${id}": others changed it at the same time, ${mostAttempts} times in a row.`,
  );
}

/** The facts of an issue, its parent by identifier. */
export async function readFacts(tables: StoreTables, project: string, issue: BoardIssue): Promise<IssueFacts> {
  if (issue.parentId === null) return issueFacts(issue, null);
  return issueFacts(issue, (await requireIssue(tables, project, issue.parentId)).identifier);
}
