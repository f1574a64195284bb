import {
  type AttachmentRecord,
  type CommentRecord,
  findIssue,
  type IssueRecord,
  noRecords,
  type ProjectRecord,
  type Records,
  type RelationType,
  type StateRecord,
  type StateType,
  type TeamRecord,
  type UserRecord,
} from './records.ts';

/**
 * A Linear workspace as people use it: changes that a test makes here, outside the API.
 * Issues are named by id or identifier; states, labels and users by name or id. What does not exist is an error.
 *
 * Linear does not document for every change whether it moves `updatedAt`. If it is unknown,
 * the fake takes the harder case for a reader: a relation, an archiving and a comment leave `updatedAt` alone, unless a
 * test says otherwise.
 */
export interface Workspace {
  readonly records: Records;
  addUser(user: { readonly id?: string; readonly name: string }): UserRecord;
  addTeam(team: NewTeam): TeamRecord;
  addProject(project: NewProject): ProjectRecord;
  addIssue(issue?: NewIssue): IssueRecord;
  updateIssue(issue: string, changes: IssueChanges, options?: Touch & ChangedBy): IssueRecord;
  /** The first blocks the second. */
  relate(blocker: string, blocked: string, options?: RelationOptions): void;
  unrelate(blocker: string, blocked: string, options?: RelationOptions): void;
  archive(issue: string, options?: Touch): void;
  /** As when a person deletes an issue: it is archived and marked, and can come back. */
  trash(issue: string, options?: Touch): void;
  restore(issue: string, options?: Touch): void;
  /** Permanently: it cannot be found, and its relations and comments are gone too. */
  remove(issue: string): void;
  addComment(comment: NewComment, options?: Touch): CommentRecord;
  /** One address is attached to an issue once; again it only changes the words. */
  attach(attachment: NewAttachment): AttachmentRecord;
  attachmentsOf(issue: string): readonly AttachmentRecord[];
  /** A label that only one team has; others are made where they are first named. */
  addTeamLabel(team: string, name: string): string;
  issue(issue: string): IssueRecord;
  /** The name of the state that it is in. */
  stateOf(issue: string): string;
  /** The names of its labels, in order of the alphabet. */
  labelsOf(issue: string): readonly string[];
  /** Oldest first. */
  commentsOf(issue: string): readonly CommentRecord[];
  /** The user behind the key. */
  setViewer(user: string): void;
}

export interface NewTeam {
  readonly id?: string;
  readonly key: string;
  readonly name?: string;
  readonly states?: readonly { readonly name: string; readonly type: StateType; readonly id?: string }[];
}

export interface NewProject {
  readonly id?: string;
  readonly slugId: string;
  readonly name?: string;
}

export interface NewIssue extends IssueChanges {
  readonly id?: string;
  /** By key; the first team unless said. */
  readonly team?: string;
  readonly createdAt?: number;
  /** The owner of the key unless said. */
  readonly creator?: string | null;
  readonly botActor?: string | null;
}

export interface IssueChanges {
  readonly title?: string;
  readonly description?: string | null;
  readonly priority?: number;
  readonly state?: string;
  /** By slug; the first project unless said, for a new issue. */
  readonly project?: string | null;
  readonly assignee?: string | null;
  readonly labels?: readonly string[];
  readonly branchName?: string;
  readonly url?: string;
  readonly parent?: string | null;
}

export interface NewComment {
  readonly id?: string;
  readonly issue: string;
  readonly body: string;
  readonly user?: string | null;
  readonly createAsUser?: string | null;
  readonly externalUser?: string | null;
}

export interface NewAttachment {
  readonly issue: string;
  readonly url: string;
  readonly title: string;
  readonly subtitle?: string | null;
}

export interface Touch {
  /** Whether `updatedAt` of the issue moves. */
  readonly touch?: boolean;
}

export interface ChangedBy {
  /** By name or id; the owner of the key unless said. Null: nobody that Linear names. */
  readonly by?: string | null;
  /** The kind of integration that did it. */
  readonly bot?: string | null;
}

export interface RelationOptions {
  readonly type?: RelationType;
  /** Whose `updatedAt` moves; `none` unless said. */
  readonly touch?: 'none' | 'blocker' | 'blocked' | 'both';
}

/** What a new team has at Linear. */
const usualStates: NonNullable<NewTeam['states']> = [
  { name: 'Backlog', type: 'backlog' },
  { name: 'Todo', type: 'unstarted' },
  { name: 'In Progress', type: 'started' },
  { name: 'In Review', type: 'started' },
  { name: 'Done', type: 'completed' },
  { name: 'Canceled', type: 'canceled' },
  { name: 'Duplicate', type: 'duplicate' },
];

export function createWorkspace(now: () => number): Workspace {
  const records = noRecords();
  let order = 0;

  const kept = (id: string | undefined, createdAt = now()) => {
    order += 1;
    return { id: id ?? idOf(order), order, createdAt, updatedAt: createdAt, archivedAt: null };
  };
  const issueOf = (name: string): IssueRecord => existing(findIssue(records, name), 'issue', name);
  const stateOfTeam = (teamId: string, name: string): StateRecord =>
    existing(
      [...records.states.values()].find(
        (state) => state.teamId === teamId && (state.name === name || state.id === name),
      ),
      'state',
      name,
    );
  const userOf = (name: string): UserRecord =>
    existing(records.users.get(name) ?? [...records.users.values()].find((user) => user.name === name), 'user', name);
  const projectOf = (slug: string): ProjectRecord =>
    existing(
      [...records.projects.values()].find(({ slugId }) => slugId === slug),
      'project',
      slug,
    );
  const labelOf = (name: string): string => {
    const found = [...records.labels.values()].find((label) => label.name === name || label.id === name);
    if (found !== undefined) return found.id;
    const label = { __typename: 'IssueLabel' as const, ...kept(undefined), name, teamId: null };
    records.labels.set(label.id, label);
    return label.id;
  };
  const touchIssue = (issue: IssueRecord, isTouched: boolean): void => {
    if (isTouched) issue.updatedAt = now();
  };
  const touchRelated = (blocker: IssueRecord, blocked: IssueRecord, touch: RelationOptions['touch']): void => {
    touchIssue(blocker, touch === 'blocker' || touch === 'both');
    touchIssue(blocked, touch === 'blocked' || touch === 'both');
  };
  const change = (issue: IssueRecord, changes: IssueChanges): void => {
    const { state, project, assignee, labels, parent, ...plain } = changes;
    Object.assign(issue, plain);
    if (state !== undefined) issue.stateId = stateOfTeam(issue.teamId, state).id;
    if (project !== undefined) issue.projectId = project === null ? null : projectOf(project).id;
    if (assignee !== undefined) issue.assigneeId = assignee === null ? null : userOf(assignee).id;
    if (parent !== undefined) issue.parentId = parent === null ? null : issueOf(parent).id;
    if (labels !== undefined) issue.labelIds = labels.map(labelOf);
  };

  const addTeam: Workspace['addTeam'] = ({ id, key, name = key, states = usualStates }) => {
    const team: TeamRecord = { __typename: 'Team', ...kept(id), key, name, lastNumber: 0 };
    records.teams.set(team.id, team);
    for (const [position, state] of states.entries()) {
      const record = { ...kept(state.id), teamId: team.id, name: state.name, type: state.type, position };
      records.states.set(record.id, { __typename: 'WorkflowState', ...record, color: '#888888' });
    }
    return team;
  };
  const addIssue: Workspace['addIssue'] = ({ id, team: key, createdAt, creator, botActor = null, ...changes } = {}) => {
    const teams = [...records.teams.values()];
    const team = existing(key === undefined ? teams[0] : teams.find((each) => each.key === key), 'team', key ?? '');
    const first = [...records.states.values()].find(({ teamId, type }) => teamId === team.id && type === 'unstarted');
    team.lastNumber += 1;
    const identifier = `${team.key}-${team.lastNumber}`;
    const [project] = records.projects.values();
    const issue: IssueRecord = {
      __typename: 'Issue',
      ...kept(id, createdAt),
      teamId: team.id,
      number: team.lastNumber,
      identifier,
      title: `Title of ${identifier}`,
      description: null,
      priority: 0,
      branchName: `someone/${identifier.toLowerCase()}-title`,
      url: `https://linear.app/acme/issue/${identifier}`,
      stateId: existing(first, 'state', 'of type unstarted').id,
      projectId: project?.id ?? null,
      assigneeId: null,
      creatorId: creator === undefined ? records.viewerId : creator === null ? null : userOf(creator).id,
      botActor,
      parentId: null,
      labelIds: [],
      trashed: null,
    };
    if (records.issues.has(issue.id)) throw new Error(`There is an issue ${issue.id} already.`);
    change(issue, changes);
    records.issues.set(issue.id, issue);
    return issue;
  };
  const addUser: Workspace['addUser'] = ({ id, name }) => {
    const email = `${name.toLowerCase().replaceAll(' ', '.')}@example.com`;
    const user: UserRecord = { __typename: 'User', ...kept(id), name, displayName: name, email, active: true };
    records.users.set(user.id, user);
    if (records.viewerId === '') records.viewerId = user.id;
    return user;
  };

  return {
    records,
    addUser,
    addTeam,
    addIssue,
    addProject: ({ id, slugId, name = slugId }) => {
      const project: ProjectRecord = { __typename: 'Project', ...kept(id), slugId, name, teamKeys: null };
      records.projects.set(project.id, project);
      return project;
    },
    updateIssue: (name, changes, { touch = true, by = records.viewerId, bot = null } = {}) => {
      const issue = issueOf(name);
      if (changes.title !== undefined || changes.description !== undefined) {
        const entry = {
          __typename: 'IssueHistory' as const,
          ...kept(undefined),
          issueId: issue.id,
          toTitle: changes.title ?? null,
          updatedDescription: changes.description === undefined ? null : true,
          userId: by === null ? null : userOf(by).id,
          botActor: bot,
        };
        records.history.set(entry.id, entry);
      }
      change(issue, changes);
      touchIssue(issue, touch);
      return issue;
    },
    relate: (blockerName, blockedName, { type = 'blocks', touch = 'none' } = {}) => {
      const [blocker, blocked] = [issueOf(blockerName), issueOf(blockedName)];
      const relation = { ...kept(undefined), type, issueId: blocker.id, relatedIssueId: blocked.id };
      records.relations.set(relation.id, { __typename: 'IssueRelation', ...relation });
      touchRelated(blocker, blocked, touch);
    },
    unrelate: (blockerName, blockedName, { type = 'blocks', touch = 'none' } = {}) => {
      const [blocker, blocked] = [issueOf(blockerName), issueOf(blockedName)];
      const relation = [...records.relations.values()].find(
        (each) => each.type === type && each.issueId === blocker.id && each.relatedIssueId === blocked.id,
      );
      records.relations.delete(existing(relation, 'relation', `${blockerName} ${type} ${blockedName}`).id);
      touchRelated(blocker, blocked, touch);
    },
    archive: (name, { touch = false } = {}) => {
      const issue = issueOf(name);
      issue.archivedAt = now();
      touchIssue(issue, touch);
    },
    trash: (name, { touch = false } = {}) => {
      const issue = issueOf(name);
      issue.archivedAt = now();
      issue.trashed = true;
      touchIssue(issue, touch);
    },
    restore: (name, { touch = false } = {}) => {
      const issue = issueOf(name);
      issue.archivedAt = null;
      issue.trashed = null;
      touchIssue(issue, touch);
    },
    remove: (name) => {
      const { id } = issueOf(name);
      records.issues.delete(id);
      for (const relation of records.relations.values()) {
        if (relation.issueId === id || relation.relatedIssueId === id) records.relations.delete(relation.id);
      }
      for (const comment of records.comments.values()) {
        if (comment.issueId === id) records.comments.delete(comment.id);
      }
      for (const attachment of records.attachments.values()) {
        if (attachment.issueId === id) records.attachments.delete(attachment.id);
      }
    },
    addComment: (
      { id, issue: name, body, user = null, createAsUser = null, externalUser = null },
      { touch = false } = {},
    ) => {
      const issue = issueOf(name);
      const userId = user === null ? null : userOf(user).id;
      const comment: CommentRecord = {
        __typename: 'Comment',
        ...kept(id),
        body,
        issueId: issue.id,
        userId,
        createAsUser,
        externalUser,
      };
      records.comments.set(comment.id, comment);
      touchIssue(issue, touch);
      return comment;
    },
    attach: ({ issue: name, url, title, subtitle = null }) => {
      const { id: issueId } = issueOf(name);
      const before = [...records.attachments.values()].find((each) => each.issueId === issueId && each.url === url);
      const attachment: AttachmentRecord = before ?? {
        __typename: 'Attachment',
        ...kept(undefined),
        issueId,
        url,
        title,
        subtitle,
      };
      Object.assign(attachment, { title, subtitle });
      records.attachments.set(attachment.id, attachment);
      return attachment;
    },
    attachmentsOf: (name) => {
      const { id } = issueOf(name);
      return [...records.attachments.values()].filter(({ issueId }) => issueId === id);
    },
    addTeamLabel: (key, name) => {
      const team = existing(
        [...records.teams.values()].find((each) => each.key === key),
        'team',
        key,
      );
      const label = { __typename: 'IssueLabel' as const, ...kept(undefined), name, teamId: team.id };
      records.labels.set(label.id, label);
      return label.id;
    },
    issue: issueOf,
    labelsOf: (name) =>
      issueOf(name)
        .labelIds.map((id) => records.labels.get(id)?.name ?? id)
        .toSorted(),
    stateOf: (name) => existing(records.states.get(issueOf(name).stateId), 'state', name).name,
    commentsOf: (name) => {
      const { id } = issueOf(name);
      return [...records.comments.values()].filter(({ issueId }) => issueId === id);
    },
    setViewer: (name) => {
      records.viewerId = userOf(name).id;
    },
  };
}

function existing<T>(found: T | undefined, what: string, name: string): T {
  if (found === undefined) throw new Error(`There is no ${what} ${name} in the fake Linear.`);
  return found;
}

/** Looks like the ids of Linear, and is the same in every run. */
function idOf(order: number): string {
  return `00000000-0000-4000-8000-${order.toString(16).padStart(12, '0')}`;
}
