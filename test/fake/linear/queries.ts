import { entityNotFound } from './failures.ts';
import { findIssue, type LinearRecord } from './records.ts';
import type { TypeName } from './shape.ts';
import type { Workspace } from './workspace.ts';

type Answer = LinearRecord | { readonly list: Iterable<LinearRecord>; readonly type: TypeName };

/** The root fields that the fake answers; archived records are found by id, and in listings when asked for. */
export const queries: Readonly<Record<string, (workspace: Workspace, args: object) => Answer>> = {
  viewer: ({ records }) => found(records.users.get(records.viewerId), 'User'),
  user: ({ records }, args) => found(records.users.get(idIn(args)), 'User'),
  users: ({ records }) => ({ list: records.users.values(), type: 'User' }),
  issue: ({ records }, args) => found(findIssue(records, idIn(args)), 'Issue'),
  issues: ({ records }) => ({ list: records.issues.values(), type: 'Issue' }),
  project: ({ records }, args) => {
    const id = idIn(args);
    return found(
      records.projects.get(id) ?? [...records.projects.values()].find(({ slugId }) => slugId === id),
      'Project',
    );
  },
  projects: ({ records }) => ({ list: records.projects.values(), type: 'Project' }),
  team: ({ records }, args) => {
    const id = idIn(args);
    return found(records.teams.get(id) ?? [...records.teams.values()].find(({ key }) => key === id), 'Team');
  },
  teams: ({ records }) => ({ list: records.teams.values(), type: 'Team' }),
  workflowState: ({ records }, args) => found(records.states.get(idIn(args)), 'WorkflowState'),
  workflowStates: ({ records }) => ({ list: records.states.values(), type: 'WorkflowState' }),
  issueLabel: ({ records }, args) => found(records.labels.get(idIn(args)), 'IssueLabel'),
  issueLabels: ({ records }) => ({ list: records.labels.values(), type: 'IssueLabel' }),
  comment: ({ records }, args) => found(records.comments.get(idIn(args)), 'Comment'),
  comments: ({ records }) => ({ list: records.comments.values(), type: 'Comment' }),
};

/** The schema guarantees that there is one. */
function idIn(args: object): string {
  return (args as { readonly id: string }).id;
}

function found<T>(record: T | undefined, what: TypeName): T {
  if (record === undefined) throw entityNotFound(what);
  return record;
}
