import type { BoardIssue, BoardIssuePatch } from '../../store/tables/board-issues.ts';
import type { BoardParts } from './board.ts';
import { changeIssue } from './change-issue.ts';
import { type ChangeBy, checked, type IssueEdit, issueEdit } from './issue-fields.ts';
import { refuseParentCycle } from './refuse-cycle.ts';

/** Changes the fields that the edit names and that are not so already. */
export function editIssue(parts: BoardParts, id: string, edit: IssueEdit, by: ChangeBy): Promise<BoardIssue> {
  // A key that is there but undefined means the same as one that is not: nothing is asked for.
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
    // The edit's fields are a part of the issue's.
    ([field, value]) => value !== undefined && plain(value) !== plain(before[field as keyof BoardIssue]),
  );
  return Object.fromEntries(fields);
}
