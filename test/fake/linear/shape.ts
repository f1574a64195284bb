import { NotModelled } from './failures.ts';
import type {
  AttachmentRecord,
  CommentRecord,
  HistoryRecord,
  IssueRecord,
  LabelRecord,
  LinearRecord,
  ProjectRecord,
  Records,
  RelationRecord,
  StateRecord,
  TeamRecord,
  UserRecord,
} from './records.ts';

/**
 * What the fake knows of each of Linear's types: the fields that are answered and the fields that are filtered by are
 * the same. A field that is not here is not modelled, and a request for it gets an error.
 */
export type Shape =
  | { readonly kind: 'value'; readonly read: (record: never, records: Records) => string | number | boolean | null }
  | { readonly kind: 'time'; readonly read: (record: never) => number | null }
  | {
      readonly kind: 'one';
      readonly type: TypeName;
      readonly read: (record: never, records: Records) => LinearRecord | null;
    }
  /** A list without pages; nothing is filtered by it. */
  | {
      readonly kind: 'list';
      readonly read: (record: never, records: Records) => readonly LinearRecord[] | null;
    }
  | {
      readonly kind: 'many';
      readonly type: TypeName;
      readonly read: (record: never, records: Records) => readonly LinearRecord[];
    };

export type TypeName = LinearRecord['__typename'];

export function shapeOf(type: TypeName, field: string): Shape {
  const shape = shapes[type][field] ?? everywhere[field];
  if (shape === undefined) throw new NotModelled(`${type}.${field}`);
  return shape;
}

/** A property that has the field's own name. */
const own = (name: string): Shape => ({
  kind: 'value',
  // The tables below name only properties that the records have.
  read: (record: Readonly<Record<string, never>>) => record[name] ?? null,
});
const value = <R extends LinearRecord>(
  read: (record: R, records: Records) => string | number | boolean | null,
): Shape => ({
  kind: 'value',
  read,
});
const one = <R extends LinearRecord>(
  type: TypeName,
  read: (record: R, records: Records) => LinearRecord | null | undefined,
): Shape => ({ kind: 'one', type, read: (record: R, records: Records) => read(record, records) ?? null });
const many = <R extends LinearRecord>(
  type: TypeName,
  read: (record: R, records: Records) => Iterable<LinearRecord>,
): Shape => ({ kind: 'many', type, read: (record: R, records: Records) => [...read(record, records)] });
const issuesWhere = <R extends LinearRecord>(isMeant: (issue: IssueRecord, record: R) => boolean): Shape =>
  many<R>('Issue', (record, { issues }) => [...issues.values()].filter((issue) => isMeant(issue, record)));

const everywhere: Readonly<Record<string, Shape>> = {
  id: own('id'),
  createdAt: { kind: 'time', read: (record: LinearRecord) => record.createdAt },
  updatedAt: { kind: 'time', read: (record: LinearRecord) => record.updatedAt },
  archivedAt: { kind: 'time', read: (record: LinearRecord) => record.archivedAt },
};

const shapes: Readonly<Record<TypeName, Readonly<Record<string, Shape>>>> = {
  User: {
    name: own('name'),
    displayName: own('displayName'),
    email: own('email'),
    active: own('active'),
    isMe: value<UserRecord>(({ id }, { viewerId }) => id === viewerId),
    assignedIssues: issuesWhere<UserRecord>((issue, { id }) => issue.assigneeId === id),
  },
  Team: {
    key: own('key'),
    name: own('name'),
    displayName: own('name'),
    states: many<TeamRecord>('WorkflowState', ({ id }, { states }) =>
      [...states.values()].filter((each) => each.teamId === id),
    ),
    issues: issuesWhere<TeamRecord>((issue, { id }) => issue.teamId === id),
    labels: many<TeamRecord>('IssueLabel', ({ id }, { labels }) =>
      [...labels.values()].filter(({ teamId }) => teamId === id),
    ),
  },
  WorkflowState: {
    name: own('name'),
    type: own('type'),
    position: own('position'),
    color: own('color'),
    team: one<StateRecord>('Team', ({ teamId }, { teams }) => teams.get(teamId)),
    issues: issuesWhere<StateRecord>((issue, { id }) => issue.stateId === id),
  },
  Project: {
    name: own('name'),
    slugId: own('slugId'),
    url: value<ProjectRecord>(({ slugId }) => `https://linear.app/acme/project/${slugId}`),
    issues: issuesWhere<ProjectRecord>((issue, { id }) => issue.projectId === id),
    teams: many<ProjectRecord>('Team', ({ teamKeys }, { teams }) =>
      [...teams.values()].filter(({ key }) => teamKeys === null || teamKeys.includes(key)),
    ),
  },
  IssueLabel: {
    name: own('name'),
    team: one<LabelRecord>('Team', ({ teamId }, { teams }) => teams.get(teamId ?? '')),
  },
  Issue: {
    identifier: own('identifier'),
    number: own('number'),
    title: own('title'),
    description: own('description'),
    priority: own('priority'),
    branchName: own('branchName'),
    url: own('url'),
    trashed: own('trashed'),
    team: one<IssueRecord>('Team', ({ teamId }, { teams }) => teams.get(teamId)),
    state: one<IssueRecord>('WorkflowState', ({ stateId }, { states }) => states.get(stateId)),
    project: one<IssueRecord>('Project', ({ projectId }, { projects }) => projects.get(projectId ?? '')),
    assignee: one<IssueRecord>('User', ({ assigneeId }, { users }) => users.get(assigneeId ?? '')),
    creator: one<IssueRecord>('User', ({ creatorId }, { users }) => users.get(creatorId ?? '')),
    botActor: one<IssueRecord>('ActorBot', ({ botActor, ...rest }) =>
      botActor === null ? null : { ...rest, __typename: 'ActorBot', type: botActor, name: null },
    ),
    parent: one<IssueRecord>('Issue', ({ parentId }, { issues }) => issues.get(parentId ?? '')),
    children: issuesWhere<IssueRecord>((issue, { id }) => issue.parentId === id),
    attachments: many<IssueRecord>('Attachment', ({ id }, { attachments }) =>
      [...attachments.values()].filter(({ issueId }) => issueId === id),
    ),
    labels: many<IssueRecord>('IssueLabel', ({ labelIds }, { labels }) =>
      [...labels.values()].filter(({ id }) => labelIds.includes(id)),
    ),
    relations: many<IssueRecord>('IssueRelation', ({ id }, { relations }) =>
      [...relations.values()].filter(({ issueId }) => issueId === id),
    ),
    inverseRelations: many<IssueRecord>('IssueRelation', ({ id }, { relations }) =>
      [...relations.values()].filter(({ relatedIssueId }) => relatedIssueId === id),
    ),
    comments: many<IssueRecord>('Comment', ({ id }, { comments }) =>
      [...comments.values()].filter(({ issueId }) => issueId === id),
    ),
    history: many<IssueRecord>('IssueHistory', ({ id }, { history }) =>
      [...history.values()].filter(({ issueId }) => issueId === id),
    ),
    // Seen at Linear: a blocker that is completed does not count.
    hasBlockedByRelations: value<IssueRecord>((issue, records) => hasOpenBlocker(issue, records)),
  },
  IssueRelation: {
    type: own('type'),
    issue: one<RelationRecord>('Issue', ({ issueId }, { issues }) => issues.get(issueId)),
    relatedIssue: one<RelationRecord>('Issue', ({ relatedIssueId }, { issues }) => issues.get(relatedIssueId)),
  },
  Comment: {
    body: own('body'),
    issueId: own('issueId'),
    issue: one<CommentRecord>('Issue', ({ issueId }, { issues }) => issues.get(issueId)),
    user: one<CommentRecord>('User', ({ userId }, { users }) => users.get(userId ?? '')),
    botActor: one<CommentRecord>('ActorBot', ({ createAsUser: name, ...rest }) =>
      name === null ? null : { ...rest, __typename: 'ActorBot', type: 'oauthClient', name },
    ),
    externalUser: one<CommentRecord>('ExternalUser', ({ externalUser: displayName, ...rest }) =>
      displayName === null ? null : { ...rest, __typename: 'ExternalUser', displayName },
    ),
    url: value<CommentRecord>(({ id }) => `https://linear.app/acme/comment/${id}`),
  },
  Attachment: {
    title: own('title'),
    subtitle: own('subtitle'),
    url: own('url'),
    issue: one<AttachmentRecord>('Issue', ({ issueId }, { issues }) => issues.get(issueId)),
  },
  IssueHistory: {
    toTitle: own('toTitle'),
    updatedDescription: own('updatedDescription'),
    actor: one<HistoryRecord>('User', ({ userId }, { users }) => users.get(userId ?? '')),
    botActor: one<HistoryRecord>('ActorBot', ({ botActor, ...rest }) =>
      botActor === null ? null : { ...rest, __typename: 'ActorBot', type: botActor, name: null },
    ),
    descriptionUpdatedBy: {
      kind: 'list',
      read: ({ updatedDescription, userId }: HistoryRecord, { users }) =>
        updatedDescription === true ? [users.get(userId ?? '')].filter((user) => user !== undefined) : null,
    },
  },
  ActorBot: { type: own('type'), name: own('name') },
  ExternalUser: { displayName: own('displayName') },
};

function hasOpenBlocker({ id }: IssueRecord, { relations, issues, states }: Records): boolean {
  return [...relations.values()].some((relation) => {
    if (relation.type !== 'blocks' || relation.relatedIssueId !== id) return false;
    const type = states.get(issues.get(relation.issueId)?.stateId ?? '')?.type;
    return type !== 'completed' && type !== 'canceled';
  });
}
