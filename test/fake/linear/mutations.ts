import { entityNotFound, linearError, NotModelled } from './failures.ts';
import { findIssue, type IssueRecord, type LinearRecord, type Records, type RelationType } from './records.ts';
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
    return payload({ issue: workspace.updateIssue(issue.id, changesOf(input, issue, workspace.records)) });
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
  commentUpdate: (workspace, { id, input }: { readonly id: string; readonly input: Input }) => {
    const comment = workspace.records.comments.get(id);
    if (comment === undefined) throw entityNotFound('Comment');
    comment.body = onlyOf(input, 'CommentUpdateInput', ['body']).body ?? comment.body;
    return payload({ comment });
  },
  issueCreate: (workspace, { input }: { readonly input: Input }) => {
    const { teamId, id, ...rest } = input as Input & { readonly teamId: string; readonly id?: string };
    const team = workspace.records.teams.get(teamId);
    if (team === undefined) throw entityNotFound('Team');
    if (id !== undefined && findIssue(workspace.records, id) !== undefined)
      throw invalidInput(`There is an issue ${id} already`);
    // Without a project, the fake would use its first one.
    const made = workspace.addIssue({ team: team.key, project: null, ...(id === undefined ? {} : { id }) });
    const issue = workspace.updateIssue(made.id, changesOf(rest, made, workspace.records));
    // What is written with a new issue is no change of it.
    const { history } = workspace.records;
    for (const entry of history.values()) if (entry.issueId === issue.id) history.delete(entry.id);
    return payload({ issue });
  },
  issueRelationCreate: (workspace, { input }: { readonly input: Input }) => {
    const names = ['issueId', 'relatedIssueId', 'type'];
    const { issueId = '', relatedIssueId = '', type } = onlyOf(input, 'IssueRelationCreateInput', names);
    const [from, to] = [issueIn(workspace.records, issueId), issueIn(workspace.records, relatedIssueId)];
    // The schema knows the types that there are.
    workspace.relate(from.id, to.id, { type: type as RelationType });
    const issueRelation = [...workspace.records.relations.values()].at(-1);
    if (issueRelation === undefined) throw entityNotFound('IssueRelation');
    return payload({ issueRelation });
  },
  attachmentCreate: (workspace, { input }: { readonly input: Input }) => {
    const names = ['issueId', 'url', 'title', 'subtitle'];
    const { issueId = '', url = '', title = '', subtitle } = onlyOf(input, 'AttachmentCreateInput', names);
    const { id: issue } = issueIn(workspace.records, issueId);
    return payload({ attachment: workspace.attach({ issue, url, title, subtitle: subtitle ?? null }) });
  },
  attachmentLinkURL: (workspace, args: { readonly issueId: string; readonly url: string; readonly title?: string }) => {
    const { id: issue } = issueIn(workspace.records, args.issueId);
    return payload({ attachment: workspace.attach({ issue, url: args.url, title: args.title ?? args.url }) });
  },
};

type Input = Readonly<Record<string, unknown>>;

function changesOf(input: Input, issue: IssueRecord, records: Records): IssueChanges {
  let changes: IssueChanges = {};
  for (const [name, value] of Object.entries(input)) {
    const change = issueInputs[name];
    if (change === undefined) throw new NotModelled(`${name} in a change of an issue`);
    // Labels that are added and removed together are one change.
    const soFar = { ...issue, labelIds: changes.labels ?? issue.labelIds };
    changes = { ...changes, ...change(value as never, soFar, records) };
  }
  return changes;
}

/** An input of texts, with nothing in it but these. */
function onlyOf(input: Input, type: string, names: readonly string[]): Readonly<Record<string, string | undefined>> {
  const other = Object.keys(input).find((name) => !names.includes(name));
  if (other !== undefined) throw new NotModelled(`${type}.${other}`);
  return input as Readonly<Record<string, string | undefined>>;
}

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
  parentId: (parent: string | null, _, records) => ({ parent: parent === null ? null : issueIn(records, parent).id }),
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
