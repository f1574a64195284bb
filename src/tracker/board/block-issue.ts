import type { BoardIssue } from '../../store/tables/board-issues.ts';
import type { BoardParts } from './board.ts';
import { changeIssue } from './change-issue.ts';
import type { ChangeBy } from './issue-fields.ts';
import { refuseBlockerCycle } from './refuse-cycle.ts';
import { requireIssue } from './require-issue.ts';

/** Makes an issue wait for another. */
export function blockIssue(parts: BoardParts, id: string, blockerId: string, by: ChangeBy): Promise<BoardIssue> {
  const { project } = parts;
  return changeIssue(parts, id, by, async (tables, before, at) => {
    const blocker = await requireIssue(tables, project, blockerId);
    await refuseBlockerCycle(tables, project, before, blocker);
    const isNew = await tables.boardIssues.addBlocker({ project, issueId: id }, blockerId);
    return isNew ? tables.boardIssues.update({ project, issueId: id }, {}, at) : before;
  });
}

/** Makes an issue not wait for another any more. */
export function unblockIssue(parts: BoardParts, id: string, blockerId: string, by: ChangeBy): Promise<BoardIssue> {
  const { project } = parts;
  return changeIssue(parts, id, by, async (tables, before, at) => {
    const wasThere = await tables.boardIssues.removeBlocker({ project, issueId: id }, blockerId);
    return wasThere ? tables.boardIssues.update({ project, issueId: id }, {}, at) : before;
  });
}
