import { sleep } from '../../../src/clock/clock.ts';
import { BatonError } from '../../../src/core/baton-error.ts';
import type { MergeMethod, PullRequest } from '../../../src/core/pull/pull-request.ts';
import { noPressure } from '../../../src/core/requests/request-pressure.ts';
import type { ReviewSettings } from '../../../src/core/settings.ts';
import { createRedactor } from '../../../src/core/text/redact.ts';
import type { Github } from '../../../src/github/github.ts';
import { githubErrors } from '../../../src/github/github-errors.ts';
import { movedByOthers } from '../../../src/pulls/github/github-branches.ts';
import { createGithubPulls, type GithubPullsParts } from '../../../src/pulls/github/github-host.ts';
import type { PullRequests } from '../../../src/pulls/pull-requests.ts';
import type { Incarnation } from '../incarnation.ts';
import { tracingLogger } from '../tracing-logger.ts';
import type { World } from '../world.ts';
import type { ReviewWorld } from './review-world.ts';
import type { SimulatedGithub, SimulatedPull } from './simulated-github.ts';
import { baseBranch } from './simulated-repository.ts';

/** The account of Baton's token. */
export const githubLogin = 'baton-bot';

/** The calls of a daemon to GitHub, in their order. A kill before or after one is as likely as another. */
export const githubSteps = [
  'github.tips',
  'github.push',
  'github.GET pulls',
  'github.POST pulls',
  'github.POST labels',
  'github.PATCH pull',
  'github.PUT merge',
  'github.BatonPulls',
] as const;

type Step = (typeof githubSteps)[number];

/**
 * The real host for GitHub over a simulated client and simulated commits: an answer is late, lost before or after the request was
 * carried out, and people act in between.
 */
export function simulatedGithubPulls(
  world: World,
  review: ReviewWorld,
  github: SimulatedGithub,
  incarnation: Incarnation,
): PullRequests {
  const { draw } = world;
  const plan = review.plan.github ?? { lost: 0, slowestMs: 1 };
  const isLost = (): boolean => !world.isCalm && draw.review.chance(plan.lost / 2);
  const carry = <T>(step: Step, work: () => T, signal?: AbortSignal): Promise<T> =>
    incarnation.call(step, async () => {
      if (isLost()) throw unreachable(world, step);
      if (draw.review.chance(0.5)) await sleep(incarnation.clock, draw.review.logBetween(1, plan.slowestMs), signal);
      const answer = work();
      if (draw.review.chance(0.5)) await sleep(incarnation.clock, draw.review.logBetween(1, plan.slowestMs), signal);
      if (isLost()) throw unreachable(world, step);
      return answer;
    });
  const rest: Github['rest'] = async ({ method, route, path = {}, query = {}, body = {}, data, ask }) => {
    const number = Number(path.pull_number ?? path.issue_number);
    const name = `${method} ${route.replace('/repos/{owner}/{repo}', '')}`;
    const act = restActs[name];
    if (act === undefined) throw new Error(`the simulated GitHub does not know ${name}`);
    const given = { number, query, body };
    return data.parse(await carry(act.step, () => act.answer(world, review, github, given), ask.signal));
  };
  const client: Github = {
    rest,
    restAnswer: async (call) => ({ data: await rest(call), headers: {} }),
    graphql: async ({ variables, data, ask }) => {
      const numbers = Object.entries(variables).filter(([name]) => /^n\d+$/.test(name));
      const records = () =>
        Object.fromEntries(
          numbers.map(([name, number]) => [`p${name.slice(1)}`, recordOf(world, review, github, Number(number))]),
        );
      return data.parse({ repository: await carry('github.BatonPulls', records, ask.signal) });
    },
    pressure: () => noPressure,
  };
  const settings: ReviewSettings = world.plan.settings.review;
  return createGithubPulls({
    repository: { owner: 'acme', name: 'app' },
    github: client,
    review: settings,
    logger: tracingLogger(world.trace, incarnation),
    redactor: createRedactor([]),
    remote: {
      client: () => {
        throw new Error('the simulated GitHub has no logs');
      },
    },
    objects: simulatedObjects(review, carry),
  });
}

function unreachable(world: World, step: Step): BatonError {
  world.count(`lost answer: ${step}`);
  return new BatonError(githubErrors.github_unreachable, 'The simulated GitHub does not answer.');
}

interface Given {
  readonly number: number;
  readonly query: Readonly<Record<string, string | number>>;
  readonly body: Readonly<Record<string, unknown>>;
}

interface RestAct {
  readonly step: Step;
  answer(world: World, review: ReviewWorld, github: SimulatedGithub, given: Given): unknown;
}

const restActs: Readonly<Record<string, RestAct>> = {
  'GET /pulls': {
    step: 'github.GET pulls',
    answer: (_world, _review, github, { query }) => {
      const branch = String(query.head).split(':')[1];
      return github.pulls
        .filter((pull) => pull.branch === branch)
        .toReversed()
        .map(listed);
    },
  },
  'POST /pulls': {
    step: 'github.POST pulls',
    answer: (world, _review, github, { body }) => {
      const pull = github.open(String(body.head), String(body.base));
      if (pull === null) throw refused('A pull request already exists, or no commits between');
      world.tally('pull request opened on GitHub');
      return listed(pull);
    },
  },
  'PATCH /pulls/{pull_number}': {
    step: 'github.PATCH pull',
    answer: (_world, _review, github, { number, body }) => {
      if (body.state === 'closed') github.close(number, githubLogin);
      return {};
    },
  },
  'PUT /pulls/{pull_number}/merge': {
    step: 'github.PUT merge',
    answer: (_world, _review, github, { number, body }) => {
      const method = body.merge_method as MergeMethod;
      const isMerged = github.merge({ number, method, by: githubLogin, maker: 'baton', sha: String(body.sha) });
      if (!isMerged) throw refused('Pull Request is not mergeable');
      return { sha: github.get(number)?.mergeCommit, merged: true };
    },
  },
  'POST /issues/{issue_number}/labels': { step: 'github.POST labels', answer: () => [] },
  'GET /actions/jobs/{job_id}': {
    step: 'github.GET pulls',
    answer: (_world, review) => ({ steps: [{ name: `Run ${review.mark()}`, conclusion: 'failure' }] }),
  },
  'GET /actions/jobs/{job_id}/logs': {
    step: 'github.GET pulls',
    answer: () => {
      throw new BatonError(githubErrors.github_not_found, 'The log is gone.');
    },
  },
};

function refused(said: string): BatonError {
  return new BatonError(githubErrors.github_refused, said, { details: { said } });
}

function listed({ number, state, branch, headOid }: SimulatedPull) {
  const html_url = `https://github.invalid/${number}`;
  return { number, html_url, state: state === 'OPEN' ? 'open' : 'closed', head: { sha: headOid, ref: branch } };
}

const conclusions = { passed: 'SUCCESS', failed: 'FAILURE', timed_out: 'TIMED_OUT', skipped: 'CANCELLED' } as const;

function recordOf(world: World, { repository }: ReviewWorld, github: SimulatedGithub, number: number): unknown {
  const pull = github.get(number);
  if (pull === undefined) return null;
  const reference = (oid: string | null) => (oid === null ? null : { target: { oid } });
  const [head, base] = [repository.ref(pull.branch), repository.ref(pull.base)];
  const isOpen = pull.state === 'OPEN' && head !== null && base !== null;
  const isKnown = isOpen && !world.draw.review.chance(0.1);
  const canMerge = isKnown && 'tree' in repository.mergeTrees(base, head);
  // Just after a push GitHub may still list the commits before it.
  const isOld = isOpen && world.draw.review.chance(0.1);
  const contexts = (github.checks.get(pull.headOid) ?? []).map(({ id, name, result }) => ({
    ...{ __typename: 'CheckRun', databaseId: id, name, isRequired: false, detailsUrl: null },
    ...{ status: result === null ? 'IN_PROGRESS' : 'COMPLETED', conclusion: result && conclusions[result] },
  }));
  const listOfChecks = { totalCount: contexts.length, nodes: contexts };
  const rollup = contexts.length === 0 ? null : { state: 'PENDING', contexts: listOfChecks };
  const oid = isOld ? (repository.get(pull.headOid).parents[0] ?? pull.headOid) : pull.headOid;
  return {
    ...{ number, url: listed(pull).html_url, state: pull.state, merged: pull.state === 'MERGED' },
    mergeable: isKnown ? (canMerge ? 'MERGEABLE' : 'CONFLICTING') : 'UNKNOWN',
    ...{ headRefOid: pull.headOid, headRef: reference(head), baseRefName: pull.base, baseRef: reference(base) },
    mergeCommit: pull.mergeCommit === null ? null : { oid: pull.mergeCommit },
    mergedBy: pull.mergedBy === null ? null : { login: pull.mergedBy },
    timelineItems: { nodes: pull.closedBy === null ? [] : [{ actor: { login: pull.closedBy } }] },
    reviews: {
      nodes: pull.reviews.map(({ id, author, canPush, state, body, commit, at }) => ({
        ...{ id, state, body, submittedAt: new Date(at).toISOString(), authorCanPushToRepository: canPush },
        ...{ author: { login: author }, commit: { oid: commit }, comments: { nodes: [] } },
      })),
    },
    commits: {
      nodes: [{ commit: { oid, statusCheckRollup: rollup } }],
    },
  };
}

/** As `GithubObjects` and `GithubBranches` with real git. */
function simulatedObjects(
  review: ReviewWorld,
  carry: <T>(step: Step, work: () => T, signal?: AbortSignal) => Promise<T>,
): GithubPullsParts['objects'] {
  const { repository, clone } = review;
  const tips = (branches: readonly string[]): ReadonlyMap<string, string> =>
    new Map(
      branches.flatMap((branch) => (repository.ref(branch) === null ? [] : [[branch, repository.ref(branch) ?? '']])),
    );
  return {
    tips: (branches) => carry('github.tips', () => tips(branches)),
    bringHead: async ({ branch, earlierHeads = [] }, there) => {
      const commit = clone.ref(branch);
      if (commit === null || commit === there) {
        if (there !== null) return there;
        throw new BatonError('change_missing', `There is no ${branch}.`);
      }
      if (there !== null && repository.contains(there, commit)) return there;
      const moved = (): BatonError => movedByOthers(`Others moved ${branch}.`, { branch });
      if (there !== null && !earlierHeads.includes(there) && !repository.contains(commit, there)) throw moved();
      try {
        await carry('github.push', () => {
          if (!repository.move({ branch, from: there, to: commit, maker: 'agent', name: githubLogin })) throw moved();
        });
      } catch (error) {
        if ((await carry('github.tips', () => tips([branch]))).get(branch) !== commit) throw error;
      }
      return commit;
    },
    fetchBase: async (base) => base ?? baseBranch,
    compute: async (pull, record, { headCommit, baseCommit }) => {
      const unknown = { isEmpty: false, mergeability: 'unknown', conflicts: [], merged: null } as const;
      const by = record.mergedBy?.login ?? null;
      if (record.merged)
        return { ...unknown, merged: { commit: record.mergeCommit?.oid ?? record.headRefOid, by, method: null } };
      if (headCommit === null || baseCommit === null) return unknown;
      follow(review, pull, headCommit);
      if (repository.contains(baseCommit, headCommit)) return { ...unknown, isEmpty: true };
      const made = repository.mergeTrees(baseCommit, headCommit);
      if ('conflicts' in made) return { ...unknown, mergeability: 'conflict', conflicts: made.conflicts };
      return { ...unknown, mergeability: repository.contains(headCommit, baseCommit) ? 'clean' : 'behind' };
    },
  };
}

/** The branch on this machine follows the one at GitHub that others moved. */
function follow({ clone, repository }: ReviewWorld, { branch, headCommit }: PullRequest, head: string): void {
  const from = clone.ref(branch);
  if (from === null || from === head || head === headCommit) return;
  if (from !== headCommit && !repository.contains(head, from)) return;
  clone.move({ branch, from, to: head, maker: 'person', name: 'GitHub' });
}
