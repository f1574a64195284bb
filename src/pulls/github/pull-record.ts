import * as z from 'zod';
import type { CheckResult } from '../../core/pull/pull-request.ts';
import { harmlessLine, harmlessLines } from '../../core/text/harmless-line.ts';
import type { HostCheck, HostReview, PullFacts } from '../pull-requests.ts';

/** Baton's own words at GitHub contain this, so that they never count as a person's. */
export const ownMark = '<!-- baton -->';

/** A person who quotes Baton repeats the mark behind a `>`. */
const isOwn = (body: string): boolean => /^<!-- baton -->/m.test(body);

const commitId = z.string().regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/);
const login = z.object({ login: z.string() }).nullish();
const target = z.object({ target: z.object({ oid: commitId }).nullish() }).nullish();
const nodesOf = <Node extends z.ZodType>(node: Node) => z.object({ nodes: z.array(node.nullish()).nullish() });
const listOf = <Node extends z.ZodType>(node: Node) => nodesOf(node).nullish();

const comment = z.object({
  id: z.string(),
  body: z.string(),
  path: z.string(),
  line: z.number().nullish(),
  originalLine: z.number().nullish(),
});

/** In the conversation of the pull request. */
const remark = z.object({
  id: z.string(),
  body: z.string(),
  createdAt: z.string(),
  authorAssociation: z.string(),
  author: login,
});

const review = z.object({
  id: z.string(),
  state: z.string(),
  body: z.string(),
  submittedAt: z.string().nullish(),
  authorCanPushToRepository: z.boolean(),
  author: login,
  commit: z.object({ oid: commitId }).nullish(),
  comments: listOf(comment),
});

const checkRun = z.object({
  __typename: z.literal('CheckRun'),
  databaseId: z.number().nullish(),
  name: z.string(),
  status: z.string(),
  conclusion: z.string().nullish(),
  detailsUrl: z.string().nullish(),
  isRequired: z.boolean(),
});
const statusContext = z.object({
  __typename: z.literal('StatusContext'),
  context: z.string(),
  state: z.string(),
  targetUrl: z.string().nullish(),
  isRequired: z.boolean(),
});
const context = z.discriminatedUnion('__typename', [checkRun, statusContext]);
const contexts = nodesOf(context).extend({ totalCount: z.number() });
const rollup = z.object({ state: z.string(), contexts: contexts.nullish() }).nullish();

/** A pull request as `readPullsDocument` asks for it. */
export const pullRecord = z.object({
  number: z.number(),
  url: z.string(),
  state: z.enum(['OPEN', 'CLOSED', 'MERGED']),
  merged: z.boolean(),
  mergeable: z.enum(['MERGEABLE', 'CONFLICTING', 'UNKNOWN']),
  headRefOid: commitId,
  headRef: target,
  baseRefName: z.string(),
  baseRef: target,
  mergeCommit: z.object({ oid: commitId }).nullish(),
  mergedBy: login,
  timelineItems: listOf(z.object({ actor: login })),
  reviews: listOf(review),
  latestOpinionatedReviews: listOf(review),
  comments: listOf(remark),
  commits: listOf(
    z.object({
      commit: z.object({
        oid: commitId,
        statusCheckRollup: rollup,
      }),
    }),
  ),
});

export type PullRecord = z.infer<typeof pullRecord>;

/** What GitHub itself says; the rest of the facts comes from the objects. */
export type HostSays = Pick<PullFacts, 'headCommit' | 'baseCommit' | 'isClosed' | 'closedBy' | 'checks' | 'reviews'>;

export function hostSays(record: PullRecord): HostSays {
  const headCommit = record.headRef?.target?.oid ?? null;
  const [commit] = present(record.commits?.nodes);
  const [closed] = present(record.timelineItems?.nodes);
  // Just after a push GitHub may still list the commits before it. What the checks of the head say is then not known.
  const isOfHead = headCommit !== null && commit?.commit.oid === headCommit;
  const reviews = [...present(record.latestOpinionatedReviews?.nodes), ...present(record.reviews?.nodes)];
  // The later one of two is where it stands among the others.
  const byId = new Map(reviews.toReversed().map((each) => [each.id, each]));
  return {
    headCommit,
    baseCommit: record.baseRef?.target?.oid ?? null,
    isClosed: record.state === 'CLOSED',
    closedBy: record.state === 'CLOSED' ? nameOf(closed?.actor) : null,
    checks: isOfHead ? checksFrom(commit.commit.statusCheckRollup) : headCommit === null ? [] : [unreadable],
    reviews: [
      ...[...byId.values()].toReversed().flatMap(reviewsFrom),
      ...present(record.comments?.nodes).flatMap(remarkFrom),
    ],
  };
}

function present<T>(nodes: readonly (T | null | undefined)[] | null | undefined): readonly T[] {
  return (nodes ?? []).filter((node) => node !== null && node !== undefined);
}

export function nameOf(user: z.infer<typeof login>): string | null {
  return user == null ? null : harmlessLine(user.login).slice(0, 100);
}

/** `CANCELLED`, `STALE` and the like are not the agent's fault, and not green. */
const conclusions: Readonly<Record<string, CheckResult>> = {
  SUCCESS: 'passed',
  NEUTRAL: 'passed',
  SKIPPED: 'passed',
  FAILURE: 'failed',
  STARTUP_FAILURE: 'failed',
  TIMED_OUT: 'timed_out',
};
const states: Readonly<Record<string, CheckResult | null>> = {
  SUCCESS: 'passed',
  FAILURE: 'failed',
  ERROR: 'failed',
  PENDING: null,
  EXPECTED: null,
};

/** GitHub lets no fine-grained token read the checks of a private repository, and gives nothing in their place. */
const unreadable: HostCheck = { id: null, name: 'not readable', result: null, isRequired: false, url: null };

function checksFrom(found: z.infer<typeof rollup>): readonly HostCheck[] {
  const listed = (found?.contexts?.nodes ?? []).map(checkFrom);
  const more = (found?.contexts?.totalCount ?? 0) - listed.length;
  if (more <= 0) return listed;
  // What GitHub says about all of them together counts for those that it did not list.
  return [...listed, { ...unreadable, name: `${more} more`, result: states[found?.state ?? ''] ?? null }];
}

function checkFrom(found: z.infer<typeof context> | null | undefined): HostCheck {
  if (found == null) return unreadable;
  const { isRequired } = found;
  if (found.__typename === 'StatusContext')
    return {
      id: null,
      name: harmlessLine(found.context).slice(0, 200),
      result: states[found.state] ?? null,
      isRequired,
      url: found.targetUrl ?? null,
    };
  const isOver = found.status === 'COMPLETED' && found.conclusion !== 'ACTION_REQUIRED';
  return {
    id: found.databaseId ?? null,
    name: harmlessLine(found.name).slice(0, 200),
    result: isOver ? (conclusions[found.conclusion ?? ''] ?? 'skipped') : null,
    isRequired,
    url: found.detailsUrl ?? null,
  };
}

const verdicts: Readonly<Record<string, HostReview['verdict']>> = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes_requested',
  COMMENTED: 'comment',
};

/** The review itself, and each of its comments on a line. A review that was dismissed or not sent yet says nothing. */
function reviewsFrom(found: z.infer<typeof review>): readonly HostReview[] {
  const verdict = verdicts[found.state];
  if (verdict === undefined || isOwn(found.body)) return [];
  const of = {
    author: nameOf(found.author) ?? 'unknown',
    isTrusted: found.authorCanPushToRepository,
    commit: found.commit?.oid ?? null,
    at: Date.parse(found.submittedAt ?? '') || 0,
    verdict,
  };
  const comments = present(found.comments?.nodes).filter(({ body }) => !isOwn(body));
  return [
    { ...of, id: found.id, reviewId: found.id, body: wordsOf(found.body), path: null, line: null },
    ...comments.map(({ id, body, path, line, originalLine }) => ({
      ...of,
      id,
      reviewId: found.id,
      body: wordsOf(body),
      path: harmlessLine(path).slice(0, 1_000),
      line: line ?? originalLine ?? null,
    })),
  ];
}

/** Those whom GitHub may let write; it says no more about them here. */
const insiders = ['OWNER', 'MEMBER', 'COLLABORATOR'];

/** For people only: no words in the conversation send a change back. */
function remarkFrom({ id, body, createdAt, authorAssociation, author }: z.infer<typeof remark>): readonly HostReview[] {
  if (isOwn(body)) return [];
  return [
    {
      id,
      reviewId: id,
      author: nameOf(author) ?? 'unknown',
      isTrusted: insiders.includes(authorAssociation),
      verdict: 'comment',
      body: wordsOf(body),
      commit: null,
      path: null,
      line: null,
      at: Date.parse(createdAt) || 0,
    },
  ];
}

const longestWords = 10_000;

function wordsOf(body: string): string {
  return harmlessLines(body).trim().slice(0, longestWords);
}
