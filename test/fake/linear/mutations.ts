import { entityNotFound, linearError, NotModelled } from './failures.ts';
import { findIssue, type IssueRecord, type LinearRecord, type Records } from './records.ts';
import type { IssueChanges, Workspace } from './workspace.ts';

interface Payload {
  readonly success: boolean;
  readonly lastSyncId: number;
  readonly [what: string]: LinearRecord | boolean | number;
}

/** The changes that the fake carries out. An input that it does not know is an error, not ignored. */
export const mutations: Readonly<Record<string, (workspace: Workspace, args: never) => Payload>> = {
  issueUpdate: (workspace, { id, input }: { readonly id: string; readonly input: Input }) => {
    const issue = issueIn(workspace.records, id);
    const changes = Object.entries(input).map(([name, value]) => {
      const change = issueInputs[name];
      if (change === undefined) throw new NotModelled(`IssueUpdateInput.${name}`);
      return change(value as never, issue, workspace.records);
    });
    return payload({ issue: workspace.updateIssue(issue.id, Object.assign({}, ...changes)) });
  },
  commentCreate: (workspace, { input }: { readonly input: Input }) => {
    const { issueId, body, id, createAsUser, ...rest } = input as Readonly<Record<string, string | undefined>>;
    // Neither changes anything that can be read here.
    const other = Object.keys(rest).filter((name) => !['displayIconUrl', 'doNotSubscribeToIssue'].includes(name));
    if (other.length > 0) throw new NotModelled(`CommentCreateInput.${other[0]}`);
    if (issueId === undefined) throw new NotModelled('comments on anything but issues');
    if (body === undefined || body === '') throw invalidInput('A comment needs a body');
    if (id !== undefined && workspace.records.comments.has(id)) throw invalidInput(`There is a comment ${id} already`);
    const issue = issueIn(workspace.records, issueId);
    const comment = workspace.addComment({
      issue: issue.id,
      body,
      user: workspace.records.viewerId,
      createAsUser: createAsUser ?? null,
      ...(id === undefined ? {} : { id }),
    });
    return payload({ comment });
  },
};

type Input = Readonly<Record<string, unknown>>;

const issueInputs: Readonly<Record<string, (value: never, issue: IssueRecord, records: Records) => IssueChanges>> = {
  title: (title: string) => ({ title }),
  description: (description: string | null) => ({ description }),
  priority: (priority: number) => ({ priority }),
  stateId: (stateId: string, { teamId }, { states }) => {
    const state = states.get(stateId);
    if (state === undefined) throw entityNotFound('WorkflowState');
    if (state.teamId !== teamId) throw invalidInput('Discrepancy between issue state and team');
    return { state: stateId };
  },
  assigneeId: (assignee: string | null, _, { users }) => {
    if (assignee !== null && !users.has(assignee)) throw entityNotFound('User');
    return { assignee };
  },
  projectId: (projectId: string | null, _, { projects }) => {
    if (projectId === null) return { project: null };
    const project = projects.get(projectId);
    if (project === undefined) throw entityNotFound('Project');
    return { project: project.slugId };
  },
  labelIds: (ids: readonly string[], _, records) => ({ labels: ids.map((id) => labelIn(records, id)) }),
  addedLabelIds: (ids: readonly string[], { labelIds }, records) => ({
    labels: [...new Set([...labelIds, ...ids.map((id) => labelIn(records, id))])],
  }),
  removedLabelIds: (ids: readonly string[], { labelIds }) => ({ labels: labelIds.filter((id) => !ids.includes(id)) }),
};

function issueIn(records: Records, id: string): IssueRecord {
  const issue = findIssue(records, id);
  if (issue === undefined) throw entityNotFound('Issue');
  return issue;
}

function labelIn({ labels }: Records, id: string): string {
  if (!labels.has(id)) throw entityNotFound('IssueLabel');
  return id;
}

function invalidInput(message: string): Error {
  return linearError('invalid input', message, `${message}.`);
}

function payload(what: Readonly<Record<string, LinearRecord>>): Payload {
  return { success: true, lastSyncId: 1, ...what };
}
