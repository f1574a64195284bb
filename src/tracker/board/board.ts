import type { Author } from '../../core/issue/author.ts';
import type { BoardStatus } from '../../core/issue/board-status.ts';
import type { BoardComment } from '../../store/tables/board-comments.ts';
import type { BoardIssue } from '../../store/tables/board-issues.ts';
import type { ChildrenPlan, LabelChange } from '../tracker.ts';
import type { BoardParts } from './board-parts.ts';
import { blockIssue, commentOnIssue, editIssue, moveIssue, relabelIssue, unblockIssue } from './change-issue.ts';
import { createIssue } from './create-issue.ts';
import { findIssue } from './find-issue.ts';
import type { ImportEntry } from './import/import-entry.ts';
import { type Imported, importIssues } from './import/import-issues.ts';
import type { ChangeBy, IssueEdit, NewIssue } from './issue-fields.ts';
import { type ListQuery, listIssues } from './list-issues.ts';
import { type BoardColumn, type IssueDetails, readColumns, readDetails, readParents } from './read-board.ts';
import { splitIssue } from './split-issue.ts';

/**
 * Baton's own board over the store. What must hold:
 *
 * - A change and its history are one transaction; replaying the history from its first entry yields the present issue.
 * - A status changes only along `board-transitions.ts`, also when changes race: the change that lost decides again.
 * - No issue waits for itself or is its own ancestor, directly or through others.
 * - A request that changes nothing writes nothing and does not wake the orchestrator.
 *
 * Methods take the id of an issue; `find` returns the issue that a person means by `BAT-3`.
 */
export interface Board {
  readonly project: string;
  /** With a known `clientKey` no issue is created, and `created` is false. */
  create(issue: NewIssue, by: ChangeBy): Promise<{ readonly issue: BoardIssue; readonly created: boolean }>;
  /** Makes the children of a plan and lets the parent wait for them, in one transaction; as `TrackerChanges`. */
  split(plan: ChildrenPlan, by: ChangeBy): Promise<readonly BoardIssue[]>;
  edit(id: string, edit: IssueEdit, by: ChangeBy): Promise<BoardIssue>;
  /** Rejects with `board_move_refused` when the table has no such move for the author, or the issue has left `from`. */
  move(id: string, to: BoardStatus, by: ChangeBy, from?: BoardStatus): Promise<BoardIssue>;
  /** Adds and removes labels; the others stay. */
  relabel(id: string, change: LabelChange, by: ChangeBy): Promise<BoardIssue>;
  comment(id: string, body: string, author: Author): Promise<BoardComment>;
  /** Makes an issue wait for another; rejects with `board_cycle` when that one already waits for it. */
  block(id: string, blockerId: string, by: ChangeBy): Promise<BoardIssue>;
  unblock(id: string, blockerId: string, by: ChangeBy): Promise<BoardIssue>;
  /** Imports all entries or none. An entry whose key was imported before is left unchanged. */
  import(entries: readonly ImportEntry[], by: ChangeBy): Promise<Imported>;

  /**
   * Finds by identifier in either case, by number alone, or by id; rejects with `tracker_issue_not_found` and the
   * nearest.
   */
  find(name: string): Promise<BoardIssue>;
  list(query: ListQuery): Promise<readonly BoardIssue[]>;
  /** Every status with its count and its newest issues. */
  columns(limit: number): Promise<readonly BoardColumn[]>;
  details(id: string): Promise<IssueDetails>;
  /** The identifiers of the issues' parents, by the parent's id. */
  parentsOf(issues: readonly BoardIssue[]): Promise<ReadonlyMap<string, string>>;
}

export function createBoard(parts: BoardParts): Board {
  return {
    project: parts.project,
    create: (issue, by) => createIssue(parts, issue, by),
    split: (plan, by) => splitIssue(parts, plan, by),
    edit: (id, edit, by) => editIssue(parts, id, edit, by),
    move: (id, to, by, from) => moveIssue(parts, id, to, by, from),
    relabel: (id, change, by) => relabelIssue(parts, id, change, by),
    comment: (id, body, author) => commentOnIssue(parts, id, body, author),
    block: (id, blockerId, by) => blockIssue(parts, id, blockerId, by),
    unblock: (id, blockerId, by) => unblockIssue(parts, id, blockerId, by),
    import: (entries, by) => importIssues(parts, entries, by),
    find: (name) => findIssue(parts, name),
    list: (query) => listIssues(parts, query),
    columns: (limit) => readColumns(parts, limit),
    details: (id) => readDetails(parts, id),
    parentsOf: (issues) => readParents(parts, issues),
  };
}
