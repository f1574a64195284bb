/**
 * The GraphQL documents that Baton sends to Linear. Linear refuses a query of more than 10,000 points: 0.1 for a
 * property, 1 for an object, and a connection multiplies its content by the size of its page. So every size is given,
 * no document comes near that bound, and the length of a list of an issue shows whether there is more: a `pageInfo` in
 * it would be multiplied too.
 */

/** Issues on a page of candidates and in a batch by id, as in the reference. */
export const pageSize = 50;
/** Issues on a page of changes; with the riding issues a poll is no larger than a page of candidates. */
export const changesPageSize = 40;
/**
 * Extra places for new changes on their first page: an ordinary poll finds none, and Linear charges for every place.
 */
export const extraPlaces = 10;
/** Most issues that may ride along with a read for a poll. */
export const mostRiding = 10;

/** How many entries of its lists are read with an issue. */
export interface ListSizes {
  readonly labelFirst: number;
  readonly relationFirst: number;
}

/** For candidates and issues by id. */
export const usualLists: ListSizes = { labelFirst: 10, relationFirst: 50 };
/** For a poll, which repeats all the time: about a quarter of the points. */
export const shortLists: ListSizes = { labelFirst: 10, relationFirst: 10 };
/** For issues that had more, and how many of those are read at once. */
export const longLists: ListSizes = { labelFirst: 50, relationFirst: 50 };
export const longListsBatch = 40;
/** The largest page that Linear allows, for the rest of a single issue. */
const wholePage = 250;

/** A document and the name it is counted under. */
export interface Operation {
  readonly name: string;
  readonly text: string;
}

const sizes = '$labelFirst: Int!, $relationFirst: Int!';

const labelFields = 'nodes { name }';
const relationFields = 'nodes { type issue { id identifier state { name } } }';

const issueFields = `fragment IssueFields on Issue {
  id identifier title description priority branchName url createdAt updatedAt archivedAt trashed
  state { name }
  parent { id identifier }
  assignee { id }
  creator { id email }
  botActor { type }
  labels(first: $labelFirst) { ${labelFields} }
  inverseRelations(first: $relationFirst) { ${relationFields} }
}`;

const issuePage = 'nodes { ...IssueFields } pageInfo { hasNextPage endCursor }';
const riding =
  'riding: issues(filter: $riding, first: $ridingFirst) @include(if: $hasRiding) { nodes { ...IssueFields } }';
const ridingVariables = '$riding: IssueFilter, $ridingFirst: Int!, $hasRiding: Boolean!';

export const candidatesOperation: Operation = operation(
  'BatonCandidates',
  `query BatonCandidates($filter: IssueFilter!, $first: Int!, $after: String, ${sizes}) {
  issues(filter: $filter, first: $first, after: $after) { ${issuePage} }
}
${issueFields}`,
);

export const issuesByIdOperation: Operation = operation(
  'BatonIssuesById',
  `query BatonIssuesById($filter: IssueFilter!, $first: Int!, ${sizes}) {
  issues(filter: $filter, first: $first) { nodes { ...IssueFields } }
}
${issueFields}`,
);

/** The newest issues, by their names. */
export const openIssuesOperation: Operation = operation(
  'BatonOpenIssues',
  `query BatonOpenIssues($filter: IssueFilter!) {
  issues(filter: $filter, first: ${wholePage}) { nodes { identifier title state { name } } }
}`,
);

/** The first page of a full read for a poll, with the time of the project's last change and the riding issues. */
export const fullReadOperation: Operation = operation(
  'BatonFullRead',
  `query BatonFullRead($filter: IssueFilter!, $first: Int!, $project: IssueFilter!, $slug: String!, ${ridingVariables}, ${sizes}) {
  issues(filter: $filter, first: $first) { ${issuePage} }
  newest: issues(filter: $project, first: 1, orderBy: updatedAt, includeArchived: true) { nodes { updatedAt } }
  projects(filter: { slugId: { eq: $slug } }, first: 1) { nodes { slugId } }
  ${riding}
}
${issueFields}`,
);

/** The first page of changed issues in any state, and the riding issues. */
export const changesOperation: Operation = operation(
  'BatonChanges',
  `query BatonChanges($filter: IssueFilter!, $first: Int!, ${ridingVariables}, ${sizes}) {
  issues(filter: $filter, first: $first, orderBy: updatedAt, includeArchived: true) { ${issuePage} }
  ${riding}
}
${issueFields}`,
);

export const moreChangesOperation: Operation = operation(
  'BatonMoreChanges',
  `query BatonMoreChanges($filter: IssueFilter!, $first: Int!, $after: String, ${sizes}) {
  issues(filter: $filter, first: $first, after: $after, orderBy: updatedAt, includeArchived: true) { ${issuePage} }
}
${issueFields}`,
);

export const issueLabelsOperation: Operation = operation(
  'BatonIssueLabels',
  `query BatonIssueLabels($filter: IssueFilter!, $after: String) {
  issues(filter: $filter, first: 1) {
    nodes { list: labels(first: ${wholePage}, after: $after) { ${labelFields} pageInfo { hasNextPage endCursor } } }
  }
}`,
);

export const issueRelationsOperation: Operation = operation(
  'BatonIssueRelations',
  `query BatonIssueRelations($filter: IssueFilter!, $after: String) {
  issues(filter: $filter, first: 1) {
    nodes {
      list: inverseRelations(first: ${wholePage}, after: $after) { ${relationFields} pageInfo { hasNextPage endCursor } }
    }
  }
}`,
);

/** Newest first, as Linear orders. */
export const issueCommentsOperation: Operation = operation(
  'BatonIssueComments',
  `query BatonIssueComments($filter: IssueFilter!, $commentFirst: Int!) {
  issues(filter: $filter, first: 1) {
    nodes {
      comments(first: $commentFirst, orderBy: createdAt) {
        nodes {
          id body createdAt
          user { id email displayName }
          botActor { type name }
          externalUser { displayName }
        }
        pageInfo { hasNextPage }
      }
    }
  }
}`,
);

/** Who changed an issue, newest first; more changes than one page make its text unknown. */
export const issueWritersOperation: Operation = operation(
  'BatonIssueWriters',
  `query BatonIssueWriters($filter: IssueFilter!) {
  issues(filter: $filter, first: 1) {
    nodes {
      creator { id email }
      botActor { type }
      history(first: ${wholePage}) {
        nodes { toTitle updatedDescription actor { id email } botActor { type } descriptionUpdatedBy { id email } }
        pageInfo { hasNextPage }
      }
    }
  }
}`,
);

export const viewerOperation: Operation = operation('BatonViewer', 'query BatonViewer { viewer { id } }');

export const userByEmailOperation: Operation = operation(
  'BatonUserByEmail',
  `query BatonUserByEmail($filter: UserFilter!) {
  users(filter: $filter, first: 2) { nodes { id } }
}`,
);

export const teamStatesOperation: Operation = operation(
  'BatonTeamStates',
  `query BatonTeamStates($filter: IssueFilter!) {
  issues(filter: $filter, first: 1) {
    nodes { state { name } project { id } team { id states(first: ${wholePage}) { nodes { id name position } } } }
  }
}`,
);

export const moveIssueOperation: Operation = operation(
  'BatonMoveIssue',
  `mutation BatonMoveIssue($id: String!, $stateId: String!, ${sizes}) {
  issueUpdate(id: $id, input: { stateId: $stateId }) { success issue { ...IssueFields } }
}
${issueFields}`,
);

/** The labels with these names, of the issue's team and of the workspace. */
export const labelsOperation: Operation = operation(
  'BatonLabels',
  `query BatonLabels($filter: IssueFilter!, $labels: IssueLabelFilter!) {
  issues(filter: $filter, first: 1) { nodes { team { id } } }
  issueLabels(filter: $labels, first: ${wholePage}) { nodes { id name team { id } } }
}`,
);

export const changeLabelsOperation: Operation = operation(
  'BatonChangeLabels',
  `mutation BatonChangeLabels($id: String!, $added: [String!]!, $removed: [String!]!, ${sizes}) {
  issueUpdate(id: $id, input: { addedLabelIds: $added, removedLabelIds: $removed }) { success issue { ...IssueFields } }
}
${issueFields}`,
);

/** The project with its first team, and the labels with these names. */
export const projectTeamOperation: Operation = operation(
  'BatonProjectTeam',
  `query BatonProjectTeam($slug: String!, $labels: IssueLabelFilter!) {
  projects(filter: { slugId: { eq: $slug } }, first: 1) {
    nodes { id teams(first: 1) { nodes { id states(first: ${wholePage}) { nodes { id name position } } } } }
  }
  issueLabels(filter: $labels, first: ${wholePage}) { nodes { id name team { id } } }
}`,
);

export const createChildOperation: Operation = operation(
  'BatonCreateChild',
  `mutation BatonCreateChild($input: IssueCreateInput!, ${sizes}) {
  issueCreate(input: $input) { success issue { ...IssueFields } }
}
${issueFields}`,
);

export const createRelationOperation: Operation = operation(
  'BatonCreateRelation',
  `mutation BatonCreateRelation($input: IssueRelationCreateInput!) {
  issueRelationCreate(input: $input) { success }
}`,
);

/** Issues whose children are read at once, so that each may have a whole page of them. */
export const childrenBatch = 5;

export const childrenOperation: Operation = operation(
  'BatonChildren',
  `query BatonChildren($filter: IssueFilter!) {
  issues(filter: $filter, first: ${childrenBatch}) {
    nodes {
      id
      children(first: ${wholePage}) { nodes { id identifier state { name } } pageInfo { hasNextPage } }
    }
  }
}`,
);

export const commentOperation: Operation = operation(
  'BatonComment',
  `mutation BatonComment($id: String!, $issueId: String!, $body: String!) {
  commentCreate(input: { id: $id, issueId: $issueId, body: $body }) { success }
}`,
);

export const doctorOperation: Operation = operation(
  'BatonDoctor',
  `query BatonDoctor($filter: ProjectFilter!) {
  viewer { name }
  projects(filter: $filter, first: 10) {
    nodes { name slugId teams(first: 10) { nodes { key states(first: 50) { nodes { name } } } } }
  }
}`,
);

export const projectsOperation: Operation = operation(
  'BatonProjects',
  `query BatonProjects {
  projects(first: ${wholePage}) { nodes { name slugId } }
}`,
);

function operation(name: string, text: string): Operation {
  return { name, text };
}
