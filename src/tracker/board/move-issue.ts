import { BatonError } from '../../core/baton-error.ts';
import type { BoardStatus } from '../../core/issue/board-status.ts';
import { allowedMoves, boardOwner, whyMoveRefused } from '../../core/issue/board-transitions.ts';
import type { BoardIssue } from '../../store/tables/board-issues.ts';
import type { BoardParts } from './board.ts';
import { changeIssue } from './change-issue.ts';
import type { ChangeBy } from './issue-fields.ts';

/** Moves an issue along the map, from the status it has at that instant. To where it is already is no move. */
export function moveIssue(parts: BoardParts, id: string, to: BoardStatus, by: ChangeBy): Promise<BoardIssue> {
  return changeIssue(parts, id, by, async (tables, before, at) => {
    if (before.status === to) return before;
    refuseMove(before, to, by);
    return tables.boardIssues.setStatus({ project: parts.project, issueId: id }, { from: before.status, to }, at);
  });
}

function refuseMove({ identifier, status }: BoardIssue, to: BoardStatus, { author }: ChangeBy): void {
  const owner = boardOwner(author);
  const why = whyMoveRefused(status, to, owner);
  if (why === null) return;
  throw new BatonError('board_move_refused', `${identifier} cannot be moved: ${why}.`, {
    details: { identifier, from: status, to, allowed: allowedMoves(status, owner) },
  });
}
