import { BatonError } from '../../core/baton-error.ts';
import type { BoardIssue } from '../../store/tables/board-issues.ts';
import type { BoardParts } from './board-parts.ts';
import { boardOwner, firstStatuses, ownerWords } from './board-transitions.ts';
import { readFacts } from './change-issue.ts';
import { createdEntry } from './history-entries.ts';
import { type ChangeBy, changeBy, checked, type NewIssue, newIssue } from './issue-fields.ts';
import { requireIssue } from './require-issue.ts';

/** Creates an issue. It cannot close a cycle, because nothing can point to an issue that did not exist. */
export async function createIssue(
  parts: BoardParts,
  issue: NewIssue,
  by: ChangeBy,
): Promise<{ issue: BoardIssue; created: boolean }> {
  const { author, reason } = checked(changeBy, by, 'change');
  const fields = checked(newIssue, issue, 'issue');
  const { store, project, prefix, clock, chance } = parts;
  const owner = boardOwner(author);
  if (!firstStatuses(owner).includes(fields.status)) {
    const allowed = firstStatuses(owner);
    const text = `An issue created by ${ownerWords[owner]} must start in ${allowed.join(' or ')}, not in ${fields.status}.`;
    throw new BatonError('board_move_refused', text, { details: { from: null, to: fields.status, allowed } });
  }
  const made = await store.transaction(async (tables) => {
    await tables.boardIssues.lock(project);
    const at = clock.now();
    const others = [...new Set(fields.parentId === null ? fields.blockerIds : [fields.parentId, ...fields.blockerIds])];
    for (const id of others) await requireIssue(tables, project, id);
    const draft = { ...fields, blockerIds: [...new Set(fields.blockerIds)], id: chance.id(), prefix };
    const result = await tables.boardIssues.create(project, draft, at);
    if (!result.created) return result;
    const entry = createdEntry(await readFacts(tables, project, result.issue), { author, reason, at });
    await tables.boardHistory.add({ project, issueId: result.issue.id }, entry);
    return result;
  });
  if (made.created) parts.onChange();
  return made;
}
