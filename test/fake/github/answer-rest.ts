import type { Account } from './fake-github.ts';
import type { Forge, ForgePull, ForgeReview } from './forge.ts';
import { exampleOf, type RouteMatch, routeOf, wrongAnswer, wrongQuery, wrongRequest } from './openapi.ts';

interface Given {
  readonly method: string;
  /** Without the root of the API. */
  readonly path: string;
  readonly url: URL;
  readonly body: string;
  readonly user: Account | null;
}

interface Desk {
  readonly forge: Forge;
  readonly complaints: string[];
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
}

type Handle = (forge: Forge, given: Given & { readonly data: Record<string, unknown> }, at: RouteMatch) => Answer;

const notFound: Answer = { status: 404, body: { message: 'Not Found', documentation_url: 'x', status: '404' } };

const pulls = '/repos/{owner}/{repo}/pulls';
const onePull = `${pulls}/{pull_number}`;
const job = '/repos/{owner}/{repo}/actions/jobs/{job_id}';

const repository = '/repos/{owner}/{repo}';

const handlers: Readonly<Record<string, Handle>> = {
  [`GET ${repository}`]: (_forge, { user }) => {
    const { source: _, parent: __, ...whole } = exampleOf('full-repository-default-response');
    const permissions = { admin: false, maintain: false, triage: true, pull: true, push: user?.canWrite === true };
    return {
      status: 200,
      body: { ...whole, language: null, default_branch: 'main', archived: false, private: true, permissions },
    };
  },
  [`GET ${repository}/branches/{branch}`]: (forge, _given, { parameters }) => {
    const name = parameters.branch ?? '';
    if (forge.tip(name) === null) return notFound;
    return { status: 200, body: { ...exampleOf('branch-get'), name, protected: forge.rules.branches.length > 0 } };
  },
  [`GET ${repository}/rules/branches/{branch}`]: ({ rules }, _given, { parameters }) => ({
    status: 200,
    body: (parameters.branch?.startsWith(rules.prefix) === true ? rules.branches : []).map((type) => ({
      type,
      ...{ ruleset_source_type: 'Repository', ruleset_source: 'acme/app', ruleset_id: 1 },
    })),
  }),
  [`GET ${repository}/commits/{ref}/check-runs`]: (_forge, { user }) =>
    user?.canReadChecks === false
      ? {
          status: 403,
          body: { message: 'Resource not accessible by personal access token', documentation_url: 'x', status: '403' },
          headers: { 'x-accepted-github-permissions': 'checks=read' },
        }
      : { status: 200, body: { total_count: 0, check_runs: [] } },
  [`GET ${pulls}`]: (forge, { url }) => {
    const asked = url.searchParams;
    const [owner, branch] = (asked.get('head') ?? '').split(/:(.*)/s);
    const state = asked.get('state') ?? 'open';
    const found = forge.pulls
      .filter((pull) => (asked.has('head') ? owner === pull.owner && pull.branch === branch : true))
      .filter((pull) => state === 'all' || (pull.state === 'OPEN') === (state === 'open'))
      .toReversed();
    return { status: 200, body: found.map((pull) => restPull('pull-request-simple', forge, pull)) };
  },
  [`POST ${pulls}`]: (forge, { data, user }) => {
    const [branch, base] = [String(data.head), String(data.base)];
    const [head, into] = [forge.tip(branch), forge.tip(base)];
    const invalid = (message: string): Answer => ({
      status: 422,
      body: {
        message: 'Validation Failed',
        documentation_url: 'x',
        errors: [{ resource: 'PullRequest', code: 'custom', message }],
      },
    });
    if (head === null) return invalid('head is invalid');
    if (into === null) return invalid('base is invalid');
    if (
      forge.pulls.some(
        (pull) => pull.state === 'OPEN' && pull.owner === 'acme' && pull.branch === branch && pull.base === base,
      )
    )
      return invalid(`A pull request already exists for acme:${branch}.`);
    if (head === into) return invalid(`No commits between ${base} and ${branch}`);
    const { title, body, draft } = data;
    const pull = forge.open({ title: String(title), body: String(body), branch, base, isDraft: draft === true });
    pull.author = user?.login ?? '';
    return { status: 201, body: restPull('pull-request', forge, pull) };
  },
  [`PATCH ${onePull}`]: (forge, { data, user }, { parameters }) => {
    const pull = forge.pulls.find(({ number }) => String(number) === parameters.pull_number);
    if (pull === undefined) return notFound;
    if (typeof data.title === 'string') pull.title = data.title;
    if (typeof data.body === 'string') pull.body = data.body;
    if (data.state === 'closed') forge.close(pull.number, user?.login ?? '');
    return { status: 200, body: restPull('pull-request', forge, pull) };
  },
  [`PUT ${onePull}/merge`]: (forge, { data, user }, { parameters }) => {
    const number = Number(parameters.pull_number);
    const method = data.merge_method as 'merge' | 'squash' | 'rebase';
    const refusal = forge.merge(number, method, user?.login ?? '', data.sha as string | undefined);
    if (refusal !== null) return { status: refusal.status, body: { message: refusal.message, documentation_url: 'x' } };
    const sha = forge.pulls[number - 1]?.mergeCommit;
    return { status: 200, body: { sha, merged: true, message: 'Pull Request successfully merged' } };
  },
  'POST /repos/{owner}/{repo}/issues/{issue_number}/labels': (forge, { data }, { parameters }) => {
    const pull = forge.pulls.find(({ number }) => String(number) === parameters.issue_number);
    if (pull === undefined) return notFound;
    pull.labels = [...new Set([...pull.labels, ...(data.labels as string[])])];
    return { status: 200, body: pull.labels.map((name) => ({ ...exampleOf('label'), name })) };
  },
  [`POST ${onePull}/requested_reviewers`]: (forge, { data }, { parameters }) => {
    const pull = forge.pulls.find(({ number }) => String(number) === parameters.pull_number);
    if (pull === undefined) return notFound;
    const wanted = [...((data.reviewers ?? []) as string[]), ...((data.team_reviewers ?? []) as string[])];
    pull.reviewers = [...new Set([...pull.reviewers, ...wanted])];
    return { status: 201, body: restPull('pull-request-simple', forge, pull) };
  },
  [`GET ${onePull}/reviews`]: (forge, { url }, { parameters }) => {
    const pull = forge.pulls.find(({ number }) => String(number) === parameters.pull_number);
    if (pull === undefined) return notFound;
    const [size, page] = ['per_page', 'page'].map((name) => Number(url.searchParams.get(name)));
    const from = (size ?? 30) * ((page ?? 1) - 1);
    return { status: 200, body: pull.reviews.slice(from, from + (size ?? 30)).map((review) => restReview(review)) };
  },
  [`POST ${onePull}/reviews`]: (forge, { data, user }, { parameters }) => {
    const pull = forge.pulls.find(({ number }) => String(number) === parameters.pull_number);
    if (pull === undefined) return notFound;
    const state = reviewStates[String(data.event)];
    if (state === undefined) return { status: 422, body: { message: 'Unprocessable Entity', documentation_url: 'x' } };
    if (state !== 'COMMENTED' && pull.author === user?.login)
      return {
        status: 422,
        body: {
          message: 'Unprocessable Entity',
          errors: [`Review Can not ${state === 'APPROVED' ? 'approve' : 'request changes on'} your own pull request`],
          documentation_url: 'x',
        },
      };
    const given = { author: user?.login ?? '', canPush: user?.canWrite === true, state, body: String(data.body) };
    const review = forge.addReview(pull.number, { ...given, commit: String(data.commit_id) });
    return { status: 200, body: restReview(review) };
  },
  [`GET ${job}`]: (forge, _given, { parameters }) => {
    const check = checkOf(forge, Number(parameters.job_id));
    if (check === undefined) return notFound;
    const conclusion = check.conclusion?.toLowerCase() ?? null;
    const step = { ...(exampleOf('job').steps as object[])[0], name: check.step, conclusion, number: 2 };
    return {
      status: 200,
      body: {
        ...exampleOf('job'),
        created_at: '2026-01-01T00:00:00Z',
        id: check.id,
        name: check.name,
        conclusion,
        steps: [step],
      },
    };
  },
  [`GET ${job}/logs`]: (forge, { url }, { parameters }) => {
    const check = checkOf(forge, Number(parameters.job_id));
    if (check === undefined) return notFound;
    return { status: 302, body: null, headers: { location: `http://${url.host}/logs/${check.id}` } };
  },
};

const reviewStates: Readonly<Record<string, ForgeReview['state']>> = {
  COMMENT: 'COMMENTED',
  APPROVE: 'APPROVED',
  REQUEST_CHANGES: 'CHANGES_REQUESTED',
};

function restReview({ id, body, state, commit }: ForgeReview) {
  return { ...exampleOf('pull-request-review'), id: Number(id.replace('PRR_', '')), body, state, commit_id: commit };
}

function checkOf(forge: Forge, id: number) {
  return forge.pulls.flatMap(({ headOid }) => forge.checksOf(headOid)).find((check) => check.id === id);
}

function restPull(example: 'pull-request' | 'pull-request-simple', forge: Forge, pull: ForgePull) {
  const whole = exampleOf(example);
  const side = (name: 'head' | 'base', ref: string, sha: string) => ({
    ...(whole[name] as Record<string, unknown>),
    label: `${pull.owner}:${ref}`,
    ref,
    sha,
  });
  return {
    ...whole,
    number: pull.number,
    html_url: `https://github.example.invalid/acme/app/pull/${pull.number}`,
    state: pull.state === 'OPEN' ? 'open' : 'closed',
    title: pull.title,
    body: pull.body,
    draft: pull.isDraft,
    merged: pull.state === 'MERGED',
    merged_at: pull.state === 'MERGED' ? '2026-01-01T00:00:00Z' : null,
    merge_commit_sha: pull.mergeCommit,
    head: side('head', pull.branch, pull.headOid),
    base: side('base', pull.base, forge.tip(pull.base) ?? ''),
    requested_teams: [],
    labels: pull.labels.map((name) => ({ ...exampleOf('label'), name, description: '', id: 1 })),
  };
}

const routes = Object.keys(handlers).map((key) => key.split(' ')[1] ?? '');

export const answerRest = {
  routeOf: ({ method, path }: Pick<Given, 'method' | 'path'>): string =>
    `${method} ${routeOf(method, path, routes)?.route ?? path}`,

  answer: ({ forge, complaints }: Desk, given: Given): Answer => {
    forge.settle();
    const at = routeOf(given.method, given.path, routes);
    const handle = at === null ? undefined : handlers[`${given.method} ${at.route}`];
    if (at === null || handle === undefined) {
      complaints.push(`not modelled: ${given.method} ${given.path}`);
      return { status: 501, body: { message: 'not modelled' } };
    }
    const { owner, repo } = at.parameters;
    if (owner !== undefined && (owner !== 'acme' || repo !== 'app')) return notFound;
    const data = given.body === '' ? {} : (JSON.parse(given.body) as Record<string, unknown>);
    complaints.push(...wrongQuery(given.method, at.route, given.url.searchParams));
    if (given.body !== '') complaints.push(...wrongRequest(given.method, at.route, data));
    if (given.method !== 'GET' && (given.user?.canWritePulls ?? given.user?.canWrite) !== true)
      return {
        status: 403,
        body: { message: 'Resource not accessible by personal access token', documentation_url: 'x', status: '403' },
        headers: { 'x-accepted-github-permissions': 'pull_requests=write' },
      };
    const answer = handle(forge, { ...given, data }, at);
    complaints.push(...wrongAnswer(given.method, at.route, answer.status, answer.body));
    return answer;
  },
};
