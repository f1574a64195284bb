/** How many pull requests one request reads: GitHub counts points by the lists in it. */
export const mostAtOnce = 50;
const mostChecks = 100;
const mostReviews = 30;
/** The last review of each of these who may write: reviews of others could push it out of the list. */
const mostWriters = 10;
const mostComments = 50;

const fields = `fragment PullFields on PullRequest {
  number url state merged mergeable
  headRefOid headRef { target { oid } }
  baseRefName baseRef { target { oid } }
  mergeCommit { oid } mergedBy { login }
  timelineItems(last: 1, itemTypes: [CLOSED_EVENT]) { nodes { ... on ClosedEvent { actor { login } } } }
  reviews(last: ${mostReviews}) { nodes { ...ReviewFields } }
  latestOpinionatedReviews(last: ${mostWriters}, writersOnly: true) { nodes { ...ReviewFields } }
  comments(last: ${mostReviews}) { nodes { id body createdAt authorAssociation author { login } } }
}
fragment ReviewFields on PullRequestReview {
  id state body submittedAt authorCanPushToRepository author { login } commit { oid }
  comments(first: ${mostComments}) { nodes { id body path line originalLine } }
}`;

/**
 * All of these pull requests in one request. The checks depend on the number of the pull request, so they stand in each
 * part and not in the fragment.
 */
export function readPullsDocument(count: number): string {
  const numbers = Array.from({ length: count }, (_, at) => at);
  const parts = numbers.map(
    (at) => `    p${at}: pullRequest(number: $n${at}) {
      ...PullFields
      commits(last: 1) { nodes { commit { oid statusCheckRollup { state contexts(first: ${mostChecks}) { totalCount nodes {
        ... on CheckRun { __typename databaseId name status conclusion detailsUrl isRequired(pullRequestNumber: $n${at}) }
        ... on StatusContext { __typename context state targetUrl isRequired(pullRequestNumber: $n${at}) }
      } } } } } }
    }`,
  );
  return `query BatonPulls($owner: String!, $name: String!, ${numbers.map((at) => `$n${at}: Int!`).join(', ')}) {
  repository(owner: $owner, name: $name) {
${parts.join('\n')}
  }
}
${fields}`;
}
