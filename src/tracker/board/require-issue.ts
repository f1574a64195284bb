import { BatonError } from '../../core/baton-error.ts';
import type { StoreTables } from '../../store/store.ts';
import type { BoardIssue } from '../../store/tables/board-issues.ts';

/** Returns the issue with this id, or throws the error that it does not exist. */
export async function requireIssue(tables: StoreTables, project: string, id: string): Promise<BoardIssue> {
  const [found] = await tables.boardIssues.readMany(project, [id]);
  if (found !== undefined) return found;
  throw new BatonError('tracker_issue_not_found', `There is no issue with the id "${id}" on the board.`);
}
