import * as z from 'zod';
import { normalizeState } from '../../core/issue/issue.ts';
import type { Ask, ChildrenPlan } from '../tracker.ts';
import { unknownPayload } from './call/call-linear.ts';
import { createChildOperation, createRelationOperation, longLists, usualLists } from './call/documents.ts';
import { type ChangeParts, findLabels, moveTo, readPlace, stateIn } from './issue-place.ts';
import type { LinearRecord } from './read/linear-record.ts';
import { issueNotFound } from './read/read-comments.ts';
import { readByIds } from './read/read-issues.ts';

const created = z.object({ issueCreate: z.object({ success: z.boolean() }) });
const related = z.object({ issueRelationCreate: z.object({ success: z.boolean() }) });

/**
 * Makes the children of a plan as sub-issues of their parent, with one request for each child and each relation. What an
 * earlier call made is read first, by the ids that the plan has drawn, and left as it is: a request whose answer was lost
 * is never repeated blindly. Labels that the team does not have are left out.
 */
export async function createChildren(parts: ChangeParts, plan: ChildrenPlan, ask: Ask): Promise<readonly string[]> {
  const { parentId, children, states } = plan;
  const { project, team } = await readPlace(parts, parentId, ask);
  const ids = children.map(({ id }) => id);
  const known = await readByIds([parentId, ...ids], usualLists, parts, ask);
  const parent = known.get(parentId);
  if (parent === undefined) throw issueNotFound(parentId);
  const missing = children.filter(({ id }) => !known.has(id));
  const names = missing.flatMap(({ labels }) => labels);
  const idOf = names.length === 0 ? () => undefined : await findLabels(parts, parentId, names, ask);
  const stateId = stateIn(team.states.nodes, states.todo);
  for (const { id, title, description, priority, labels } of missing) {
    const input = {
      id,
      title,
      description,
      parentId,
      teamId: team.id,
      projectId: project.id,
      stateId,
      ...(priority === null ? {} : { priority }),
      ...(parent.assigneeId === null ? {} : { assigneeId: parent.assigneeId }),
      labelIds: [...new Set(labels.flatMap((name) => idOf(name) ?? []))],
    };
    await ask.run?.onWrite({ kind: 'issue', id });
    const { issueCreate } = await parts.call(createChildOperation, { input, ...longLists }, created, ask);
    if (!issueCreate.success) throw unknownPayload(createChildOperation, 'the issue was not created');
  }
  const wanted = [
    ...children.flatMap(({ id, blockedBy }) => blockedBy.map((by) => [by, id])),
    ...ids.map((id) => [id, parentId]),
  ];
  for (const [blocker = '', blocked = ''] of wanted) {
    if (isBlockedBy(known.get(blocked), blocker)) continue;
    const input = { issueId: blocker, relatedIssueId: blocked, type: 'blocks' };
    const { issueRelationCreate } = await parts.call(createRelationOperation, { input }, related, ask);
    if (!issueRelationCreate.success) throw unknownPayload(createRelationOperation, 'the relation was not created');
  }
  if (normalizeState(parent.state) !== normalizeState(states.blocked)) {
    const blockedId = stateIn(team.states.nodes, states.blocked);
    await moveTo(parts, parentId, blockedId, ask);
  }
  return ids;
}

function isBlockedBy(record: LinearRecord | undefined, blocker: string): boolean {
  return record?.relations.some(({ type, issue }) => type === 'blocks' && issue.id === blocker) ?? false;
}
