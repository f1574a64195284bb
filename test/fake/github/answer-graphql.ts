import { type ExecutionResult, execute, GraphQLError } from 'graphql';
import type { Account } from './fake-github.ts';
import { canMerge, type Forge, type ForgeCheck, type ForgePull, type ForgeRemark, type ForgeReview } from './forge.ts';
import { checkDocument, githubSchema } from './github-schema.ts';

interface Desk {
  readonly forge: Forge;
  readonly complaints: string[];
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
}

export async function answerGraphql(
  { forge, complaints }: Desk,
  { body, user: { canReadChecks = true } }: { readonly body: string; readonly user: Pick<Account, 'canReadChecks'> },
): Promise<Answer> {
  forge.settle();
  const { query, variables } = JSON.parse(body) as { query: string; variables: Record<string, unknown> };
  const { document, errors } = checkDocument(query);
  if (errors.length > 0) {
    complaints.push(...errors.map(({ message }) => message));
    return { status: 200, body: { errors: errors.map(({ message }) => ({ message })) } };
  }
  const result: ExecutionResult = await execute({
    schema: githubSchema(),
    document,
    variableValues: variables,
    rootValue: rootOf(forge, canReadChecks),
  });
  const said = (result.errors ?? []).map(({ message, path, extensions }) => ({ message, path, ...extensions }));
  // GitHub would not answer so: the fake lacks a field.
  for (const { message, type } of said as readonly { message: string; type?: string }[])
    if (type === undefined) complaints.push(message);
  return { status: 200, body: { data: result.data ?? null, ...(said.length === 0 ? {} : { errors: said }) } };
}

function notFound(what: string): GraphQLError {
  return new GraphQLError(`Could not resolve to ${what}.`, { extensions: { type: 'NOT_FOUND' } });
}

function rootOf(forge: Forge, canReadChecks: boolean): Record<string, unknown> {
  return {
    repository: ({ owner, name }: { owner: string; name: string }) => {
      if (owner !== 'acme' || name !== 'app') throw notFound(`a Repository with the name '${owner}/${name}'`);
      return {
        pullRequest: ({ number }: { number: number }) => {
          const pull = forge.pulls.find((each) => each.number === number);
          if (pull === undefined) throw notFound(`a PullRequest with the number of ${number}`);
          return pullNode(forge, pull, canReadChecks);
        },
      };
    },
  };
}

const user = (login: string | null) => (login === null ? null : { __typename: 'User', login });

function refNode(oid: string | null) {
  return oid === null ? null : { target: { __typename: 'Commit', oid } };
}

function pullNode(forge: Forge, pull: ForgePull, canReadChecks: boolean): Record<string, unknown> {
  const [head, base] = [forge.tip(pull.branch), forge.tip(pull.base)];
  const isOpen = pull.state === 'OPEN' && head !== null && base !== null;
  const mergeable = !isOpen ? 'UNKNOWN' : canMerge(forge.repository, base, head) ? 'MERGEABLE' : 'CONFLICTING';
  return {
    number: pull.number,
    url: `https://github.example.invalid/acme/app/pull/${pull.number}`,
    state: pull.state,
    merged: pull.state === 'MERGED',
    mergeable,
    headRefOid: pull.headOid,
    headRef: refNode(head),
    baseRefName: pull.base,
    baseRef: refNode(base),
    mergeCommit: pull.mergeCommit === null ? null : { oid: pull.mergeCommit },
    mergedBy: user(pull.mergedBy),
    timelineItems: {
      nodes: pull.state === 'CLOSED' ? [{ __typename: 'ClosedEvent', actor: user(pull.closedBy) }] : [],
    },
    reviews: ({ last }: { last: number }) => ({ nodes: pull.reviews.slice(-last).map(reviewNode) }),
    latestOpinionatedReviews: ({ last, writersOnly }: { last: number; writersOnly: boolean }) => ({
      nodes: opinions(pull.reviews, writersOnly).slice(-last).map(reviewNode),
    }),
    comments: ({ last }: { last: number }) => ({ nodes: pull.comments.slice(-last).map(remarkNode) }),
    commits: {
      nodes: [
        { commit: { oid: pull.headOid, statusCheckRollup: rollup(forge.checksOf(pull.headOid), canReadChecks) } },
      ],
    },
  };
}

function rollup(checks: readonly ForgeCheck[], canReadChecks: boolean) {
  const refused = (): GraphQLError =>
    new GraphQLError('Resource not accessible by personal access token', { extensions: { type: 'FORBIDDEN' } });
  const nodes = checks.map((check) => (canReadChecks ? checkNode(check) : refused()));
  const contexts = ({ first }: { first: number }) => ({ totalCount: nodes.length, nodes: nodes.slice(0, first) });
  return checks.length === 0 ? null : { state: stateOf(checks), contexts };
}

function stateOf(checks: readonly ForgeCheck[]): 'FAILURE' | 'PENDING' | 'SUCCESS' {
  if (checks.some(({ conclusion }) => conclusion === 'FAILURE' || conclusion === 'TIMED_OUT')) return 'FAILURE';
  return checks.some(({ conclusion }) => conclusion === null) ? 'PENDING' : 'SUCCESS';
}

function checkNode({ id, name, conclusion, isRequired }: ForgeCheck): Record<string, unknown> {
  return {
    __typename: 'CheckRun',
    databaseId: id,
    name,
    status: conclusion === null ? 'IN_PROGRESS' : 'COMPLETED',
    conclusion,
    detailsUrl: `https://github.example.invalid/acme/app/actions/runs/1/job/${id}`,
    isRequired,
  };
}

/** The last approval, rejection or dismissal of each person. */
function opinions(reviews: readonly ForgeReview[], writersOnly: boolean): readonly ForgeReview[] {
  const counted = reviews.filter(({ state, canPush }) => state !== 'COMMENTED' && (canPush || !writersOnly));
  return counted.filter((review, nth) => !counted.slice(nth + 1).some(({ author }) => author === review.author));
}

function remarkNode({ id, author, association, body, at }: ForgeRemark): Record<string, unknown> {
  return {
    ...{ id, body, authorAssociation: association, author: user(author) },
    createdAt: new Date(at).toISOString(),
  };
}

function reviewNode({ id, author, canPush, state, body, commit, at, comments }: ForgeReview): Record<string, unknown> {
  return {
    id,
    state,
    body,
    submittedAt: new Date(at).toISOString(),
    authorCanPushToRepository: canPush,
    author: user(author),
    commit: { oid: commit },
    comments: {
      nodes: comments.map((comment, nth) => ({
        id: `${id}-${nth}`,
        body: comment.body,
        path: comment.path,
        line: comment.line,
        originalLine: comment.line,
      })),
    },
  };
}
