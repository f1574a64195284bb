import { buildSchema, type GraphQLSchema } from 'graphql';

/**
 * What an agent may send to Linear with `tool_scope: issue` or `project`: a part of Linear's schema, and nothing that is not
 * written here. A document that is valid by it stays inside the project, provided that the requirements of its marks
 * were met. What must hold (a test compares each line with Linear's schema):
 *
 * - Nothing here leads from an issue to another issue, a person's issues, another project or the workspace. Where
 *   Linear leads to a single issue, the type is `IssueElsewhere`, which has what Baton shows of a blocker; a list of
 *   issues is `@inProject`.
 * - Filters compare only what an issue itself has: a filter that reaches other things would reveal them by its results.
 * - Every argument that names something is marked, or names what Linear itself ties to the issue: a state, a person.
 * - No change moves an issue to another project or team, deletes, writes in another name, or starts another agent.
 *
 * The marks: `@issue` and `@comment` must be in the project; with `@changed` they are changed; `@project` must be the
 * project; `@team` must be one of its teams; `@idle` is a state in which no agent works; `@label` must not tell Baton what
 * to do; `@inProject` and `@ofWorkspace` are filters that are narrowed to the project, and to labels that belong to no team.
 */
const page =
  'after: String, before: String, first: Int, includeArchived: Boolean, last: Int, orderBy: PaginationOrderBy';
const connected = ['Attachment', 'Comment', 'Issue', 'IssueLabel', 'IssueRelation', 'Team', 'WorkflowState'];
const text = [
  'contains containsIgnoreCase containsIgnoreCaseAndAccent endsWith eq eqIgnoreCase neq neqIgnoreCase notContains',
  'notContainsIgnoreCase notEndsWith notStartsWith startsWith startsWithIgnoreCase',
].join(' ');

const definitions = `
directive @issue on ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION
directive @comment on ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION
directive @changed on ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION
directive @idle on INPUT_FIELD_DEFINITION
directive @label on INPUT_FIELD_DEFINITION
directive @project on ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION
directive @team on ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION
directive @inProject on ARGUMENT_DEFINITION
directive @ofWorkspace on ARGUMENT_DEFINITION

scalar DateTime
scalar DateTimeOrDuration
scalar JSONObject
scalar TimelessDate
enum PaginationOrderBy { createdAt updatedAt }
enum IssueRelationType { blocks duplicate related similar }
enum GitLinkKind { closes contributes links }

type Query {
  viewer: User!
  issue(id: String! @issue): Issue!
  issues(${page}, filter: IssueFilter @inProject): IssueConnection!
  comment(id: String! @comment): Comment!
  project(id: String! @project): Project!
  team(id: String! @team): Team!
  issueLabels(${page}, filter: IssueLabelFilter @ofWorkspace): IssueLabelConnection!
}

type Mutation {
  issueCreate(input: IssueCreateInput!): IssuePayload!
  issueUpdate(id: String! @issue @changed, input: IssueUpdateInput!): IssuePayload!
  issueRelationCreate(input: IssueRelationCreateInput!): IssueRelationPayload!
  commentCreate(input: CommentCreateInput!): CommentPayload!
  commentUpdate(id: String! @comment @changed, input: CommentUpdateInput!): CommentPayload!
  attachmentCreate(input: AttachmentCreateInput!): AttachmentPayload!
  attachmentLinkURL(issueId: String! @issue @changed, url: String!, title: String): AttachmentPayload!
  attachmentLinkGitHubPR(issueId: String! @issue @changed, url: String!, title: String, linkKind: GitLinkKind): AttachmentPayload!
  attachmentLinkGitLabMR(
    issueId: String! @issue @changed, url: String!, title: String, number: Float!, projectPathWithNamespace: String!
  ): AttachmentPayload!
  fileUpload(contentType: String!, filename: String!, size: Int!): UploadPayload!
}

input IssueCreateInput {
  projectId: String! @project
  teamId: String! @team
  parentId: String @issue
  title: String
  description: String
  priority: Int
  estimate: Int
  dueDate: TimelessDate
  stateId: String! @idle
  assigneeId: String
  labelIds: [String!] @label
}
input IssueUpdateInput {
  parentId: String @issue
  title: String
  description: String
  priority: Int
  estimate: Int
  dueDate: TimelessDate
  stateId: String
  assigneeId: String
  addedLabelIds: [String!] @label
  removedLabelIds: [String!] @label
}
input IssueRelationCreateInput { issueId: String! @issue, relatedIssueId: String! @issue, type: IssueRelationType! }
input CommentCreateInput { issueId: String! @issue @changed, parentId: String @comment, body: String }
input CommentUpdateInput { body: String }
input AttachmentCreateInput {
  issueId: String! @issue @changed
  title: String!
  url: String!
  subtitle: String
  metadata: JSONObject
}

type Issue {
  ${fields('ID!', 'id')}
  ${fields('String!', 'identifier title url branchName priorityLabel')}
  ${fields('String', 'description')}
  ${fields('Float!', 'number priority sortOrder')}
  ${fields('Float', 'estimate')}
  ${fields('DateTime!', 'createdAt updatedAt')}
  ${fields('DateTime', 'archivedAt canceledAt completedAt startedAt')}
  dueDate: TimelessDate
  trashed: Boolean
  labelIds: [String!]!
  previousIdentifiers: [String!]!
  state: WorkflowState!
  team: Team!
  project: Project
  projectMilestone: ProjectMilestone
  cycle: Cycle
  assignee: User
  creator: User
  botActor: ActorBot
  externalUserCreator: ExternalUser
  parent: IssueElsewhere
  children(${page}, filter: IssueFilter @inProject): IssueConnection!
  labels(${page}, filter: IssueLabelFilter): IssueLabelConnection!
  comments(${page}): CommentConnection!
  attachments(${page}): AttachmentConnection!
  relations(${page}): IssueRelationConnection!
  inverseRelations(${page}): IssueRelationConnection!
}
type IssueElsewhere { id: ID!, identifier: String!, state: WorkflowState! }
type IssueRelation {
  ${fields('ID!', 'id')}
  type: String!
  ${fields('DateTime!', 'createdAt updatedAt')}
  issue: IssueElsewhere!
  relatedIssue: IssueElsewhere!
}
type Comment {
  ${fields('ID!', 'id')}
  ${fields('String!', 'body url')}
  ${fields('String', 'issueId parentId quotedText')}
  ${fields('DateTime!', 'createdAt updatedAt')}
  ${fields('DateTime', 'archivedAt editedAt resolvedAt')}
  issue: IssueElsewhere
  parent: Comment
  children(${page}): CommentConnection!
  user: User
  botActor: ActorBot
  externalUser: ExternalUser
}
type Attachment {
  ${fields('ID!', 'id')}
  ${fields('String!', 'title url')}
  ${fields('String', 'subtitle sourceType')}
  ${fields('DateTime!', 'createdAt updatedAt')}
  metadata: JSONObject!
  creator: User
  issue: IssueElsewhere!
}
type Project {
  ${fields('ID!', 'id')}
  ${fields('String!', 'name slugId url description')}
  content: String
  teams(${page}): TeamConnection!
  issues(${page}, filter: IssueFilter @inProject): IssueConnection!
}
type Team {
  ${fields('ID!', 'id')}
  ${fields('String!', 'key name displayName')}
  description: String
  states(${page}, filter: WorkflowStateFilter): WorkflowStateConnection!
  labels(${page}, filter: IssueLabelFilter): IssueLabelConnection!
}
type WorkflowState {
  ${fields('ID!', 'id')}
  ${fields('String!', 'name type color')}
  description: String
  position: Float!
}
type IssueLabel {
  ${fields('ID!', 'id')}
  ${fields('String!', 'name color')}
  description: String
  isGroup: Boolean!
  parent: IssueLabel
}
type User { id: ID!, name: String!, displayName: String!, isMe: Boolean!, active: Boolean! }
type ActorBot { id: ID, name: String, type: String!, subType: String }
type ExternalUser { id: ID!, name: String!, displayName: String! }
type Cycle { id: ID!, name: String, number: Float!, startsAt: DateTime!, endsAt: DateTime! }
type ProjectMilestone { id: ID!, name: String!, description: String, targetDate: TimelessDate }

type PageInfo { hasNextPage: Boolean!, hasPreviousPage: Boolean!, startCursor: String, endCursor: String }
type IssuePayload { success: Boolean!, lastSyncId: Float!, issue: Issue }
type IssueRelationPayload { success: Boolean!, lastSyncId: Float!, issueRelation: IssueRelation! }
type CommentPayload { success: Boolean!, lastSyncId: Float!, comment: Comment! }
type AttachmentPayload { success: Boolean!, lastSyncId: Float!, attachment: Attachment! }
type UploadPayload { success: Boolean!, lastSyncId: Float!, uploadFile: UploadFile }
type UploadFile {
  assetUrl: String!, uploadUrl: String!, contentType: String!, filename: String!, size: Int!, headers: [UploadFileHeader!]!
}
type UploadFileHeader { key: String!, value: String! }

input IssueFilter {
  ${fields('[IssueFilter!]', 'and or')}
  id: IssueIDComparator
  number: NumberComparator
  title: StringComparator
  description: NullableStringComparator
  priority: NullableNumberComparator
  state: WorkflowStateFilter
  labels: IssueLabelCollectionFilter
  assignee: NullableUserFilter
  team: TeamFilter
  ${fields('DateComparator', 'createdAt updatedAt')}
  ${fields('NullableDateComparator', 'canceledAt completedAt startedAt')}
}
input WorkflowStateFilter {
  ${fields('[WorkflowStateFilter!]', 'and or')}
  id: IDComparator
  ${fields('StringComparator', 'name type')}
}
input IssueLabelFilter { ${fields('[IssueLabelFilter!]', 'and or')} id: IDComparator, name: StringComparator }
input IssueLabelCollectionFilter {
  ${fields('[IssueLabelCollectionFilter!]', 'and or')}
  ${fields('IssueLabelFilter', 'some every')}
  id: IDComparator
  name: StringComparator
  length: NumberComparator
}
input NullableUserFilter {
  ${fields('[NullableUserFilter!]', 'and or')}
  id: IDComparator
  ${fields('StringComparator', 'name displayName')}
  isMe: BooleanComparator
  null: Boolean
}
input TeamFilter { id: IDComparator, key: StringComparator, name: StringComparator }
input BooleanComparator { eq: Boolean, neq: Boolean }
input StringComparator { ${fields('String', text)} ${fields('[String!]', 'in nin')} }
input NullableStringComparator { ${fields('String', text)} ${fields('[String!]', 'in nin')} null: Boolean }
${comparator('IDComparator', 'ID', 'eq neq')}
${comparator('IssueIDComparator', 'ID', 'eq neq')}
${comparator('NumberComparator', 'Float')}
${comparator('NullableNumberComparator', 'Float', ordered(), 'null: Boolean')}
${comparator('DateComparator', 'DateTimeOrDuration')}
${comparator('NullableDateComparator', 'DateTimeOrDuration', ordered(), 'null: Boolean')}
${connected.map(connection).join('\n')}
`;

let built: GraphQLSchema | undefined;

export function projectSchema(): GraphQLSchema {
  built ??= buildSchema(definitions);
  return built;
}

function fields(type: string, names: string): string {
  return names
    .split(' ')
    .map((name) => `${name}: ${type}`)
    .join(' ');
}

function ordered(): string {
  return 'eq neq gt gte lt lte';
}

function comparator(name: string, value: string, names = ordered(), more = ''): string {
  return `input ${name} { ${fields(value, names)} ${fields(`[${value}!]`, 'in nin')} ${more} }`;
}

function connection(type: string): string {
  return `type ${type}Connection { nodes: [${type}!]! edges: [${type}Edge!]! pageInfo: PageInfo! }
type ${type}Edge { node: ${type}! cursor: String! }`;
}
