/** What the fake Linear keeps. Times are milliseconds since 1970; `order` tells records of the same millisecond apart. */
interface Kept {
  readonly id: string;
  readonly order: number;
  readonly createdAt: number;
  updatedAt: number;
  archivedAt: number | null;
}

export interface UserRecord extends Kept {
  readonly __typename: 'User';
  name: string;
  displayName: string;
  email: string;
  active: boolean;
}

export interface TeamRecord extends Kept {
  readonly __typename: 'Team';
  readonly key: string;
  name: string;
  /** Of the issue that was added last; numbers are not used twice. */
  lastNumber: number;
}

export interface StateRecord extends Kept {
  readonly __typename: 'WorkflowState';
  readonly teamId: string;
  name: string;
  type: StateType;
  position: number;
  color: string;
}

export type StateType = 'triage' | 'backlog' | 'unstarted' | 'started' | 'completed' | 'canceled' | 'duplicate';

export interface ProjectRecord extends Kept {
  readonly __typename: 'Project';
  name: string;
  readonly slugId: string;
  /** Of its teams; null: all that there are. */
  teamKeys: readonly string[] | null;
}

export interface LabelRecord extends Kept {
  readonly __typename: 'IssueLabel';
  name: string;
  /** Null: it belongs to the workspace. */
  readonly teamId: string | null;
}

export interface IssueRecord extends Kept {
  readonly __typename: 'Issue';
  readonly teamId: string;
  readonly number: number;
  readonly identifier: string;
  title: string;
  description: string | null;
  priority: number;
  branchName: string;
  url: string;
  stateId: string;
  projectId: string | null;
  assigneeId: string | null;
  /** Who filed it; null: an integration, or someone outside the workspace. */
  creatorId: string | null;
  /** The kind of integration that filed it. */
  botActor: string | null;
  parentId: string | null;
  labelIds: readonly string[];
  trashed: boolean | null;
}

/** `issueId` is the source: it blocks `relatedIssueId`. */
export interface RelationRecord extends Kept {
  readonly __typename: 'IssueRelation';
  readonly type: RelationType;
  readonly issueId: string;
  readonly relatedIssueId: string;
}

export type RelationType = 'blocks' | 'duplicate' | 'related' | 'similar';

export interface CommentRecord extends Kept {
  readonly __typename: 'Comment';
  body: string;
  readonly issueId: string;
  readonly userId: string | null;
  /** The name that an application gave as the author (`createAsUser`). */
  readonly createAsUser: string | null;
  /** Who wrote it in another program, such as a chat, from where it was copied. */
  readonly externalUser: string | null;
}

/** A change of an issue's title or description; Linear keeps others too. */
export interface HistoryRecord extends Kept {
  readonly __typename: 'IssueHistory';
  readonly issueId: string;
  readonly toTitle: string | null;
  readonly updatedDescription: boolean | null;
  /** Null: nobody that Linear names. */
  readonly userId: string | null;
  readonly botActor: string | null;
}

export interface AttachmentRecord extends Kept {
  readonly __typename: 'Attachment';
  readonly issueId: string;
  readonly url: string;
  title: string;
  subtitle: string | null;
}

/** The bot that filed an issue or wrote a comment. */
export interface BotRecord extends Kept {
  readonly __typename: 'ActorBot';
  readonly type: string;
  readonly name: string | null;
}

export interface ExternalUserRecord extends Kept {
  readonly __typename: 'ExternalUser';
  readonly displayName: string;
}

export type LinearRecord =
  | UserRecord
  | TeamRecord
  | StateRecord
  | ProjectRecord
  | LabelRecord
  | IssueRecord
  | RelationRecord
  | CommentRecord
  | AttachmentRecord
  | HistoryRecord
  | BotRecord
  | ExternalUserRecord;

/** All of them by id. */
export interface Records {
  readonly users: Map<string, UserRecord>;
  readonly teams: Map<string, TeamRecord>;
  readonly states: Map<string, StateRecord>;
  readonly projects: Map<string, ProjectRecord>;
  readonly labels: Map<string, LabelRecord>;
  readonly issues: Map<string, IssueRecord>;
  readonly relations: Map<string, RelationRecord>;
  readonly comments: Map<string, CommentRecord>;
  readonly attachments: Map<string, AttachmentRecord>;
  readonly history: Map<string, HistoryRecord>;
  /** Whose key it is. */
  viewerId: string;
}

export function noRecords(): Records {
  return {
    users: new Map(),
    teams: new Map(),
    states: new Map(),
    projects: new Map(),
    labels: new Map(),
    issues: new Map(),
    relations: new Map(),
    comments: new Map(),
    attachments: new Map(),
    history: new Map(),
    viewerId: '',
  };
}

/** By id, or as people call it: `BAT-12`. */
export function findIssue(records: Records, idOrIdentifier: string): IssueRecord | undefined {
  const wanted = idOrIdentifier.toUpperCase();
  return (
    records.issues.get(idOrIdentifier) ?? [...records.issues.values()].find(({ identifier }) => identifier === wanted)
  );
}
