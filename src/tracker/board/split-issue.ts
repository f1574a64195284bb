import { readBoardStatus } from '../../core/issue/board-status.ts';
import type { StoreTables } from '../../store/store.ts';
import type { BoardIssue } from '../../store/tables/board-issues.ts';
import type { ChildrenPlan } from '../tracker.ts';
import type { BoardParts } from './board-parts.ts';
import { readFacts, refuseMove } from './change-issue.ts';
import { changeEntries, createdEntry } from './history-entries.ts';
import { type ChangeBy, changeBy, checked, newIssue } from './issue-fields.ts';
import { refuseBlockerCycle } from './refuse-cycle.ts';
import { requireIssue } from './require-issue.ts';

/**
 * Makes the children of a plan, lets them wait for each other and the parent for all of them, and moves the parent to
 * `blocked`: one transaction, so that no one sees a part of it. A child that exists already stays as it is.
 */
export async function splitIssue(parts: BoardParts, plan: ChildrenPlan, by: ChangeBy): Promise<readonly BoardIssue[]> {
  const { author, reason } = checked(changeBy, by, 'change');
  const { store, project, clock } = parts;
  const made = await store.transaction(async (tables) => {
    await tables.boardIssues.lock(project);
    const at = clock.now();
    const before = await requireIssue(tables, project, plan.parentId);
    let isChanged = false;
    for (const [place, child] of plan.children.entries()) {
      if ((await tables.boardIssues.readMany(project, [child.id])).length > 0) continue;
      isChanged = true;
      const issue = await makeChild(parts, tables, plan, child, at + place);
      const entry = createdEntry(await readFacts(tables, project, issue), { author, reason, at });
      await tables.boardHistory.add({ project, issueId: issue.id }, entry);
    }
    const key = { project, issueId: plan.parentId };
    const children = await tables.boardIssues.readMany(
      project,
      plan.children.map(({ id }) => id),
    );
    for (const child of children) {
      await refuseBlockerCycle(tables, project, before, child);
      isChanged = (await tables.boardIssues.addBlocker(key, child.id)) || isChanged;
    }
    const isMoved = before.status !== 'blocked' && isChanged;
    if (isMoved) {
      refuseMove(before, 'blocked', by);
      await tables.boardIssues.setStatus(key, { from: before.status, to: 'blocked' }, at);
    }
    if (isChanged) {
      const after = (await tables.boardIssues.update(key, {}, at)) ?? before;
      const facts = [await readFacts(tables, project, before), await readFacts(tables, project, after)] as const;
      for (const entry of changeEntries(...facts, { author, reason, at })) await tables.boardHistory.add(key, entry);
    }
    return { children, isChanged };
  });
  if (made.isChanged) parts.onChange();
  return made.children;
}

async function makeChild(
  { project, prefix }: BoardParts,
  tables: StoreTables,
  { parentId, states }: ChildrenPlan,
  { id, title, description, priority, labels, blockedBy }: ChildrenPlan['children'][number],
  at: number,
): Promise<BoardIssue> {
  const status = readBoardStatus(states.todo) ?? 'todo';
  const asked = { title, description, status, priority, labels: [...labels], parentId, blockerIds: [...blockedBy] };
  const draft = { ...checked(newIssue, asked, 'issue'), id, prefix };
  return (await tables.boardIssues.create(project, draft, at)).issue;
}
