import * as z from 'zod';
import { BatonError } from '../../core/baton-error.ts';
import { failedBy } from '../../core/finding.ts';
import type { PullRequest } from '../../core/pull/pull-request.ts';
import type { Secret } from '../../core/text/secret.ts';
import { createGithub, type Github, type GithubAsk, type GraphqlError, type RestCall } from '../../github/github.ts';
import { type GithubRepository, githubAddress, readRepository, repositoryOfUrl } from '../../github/github-address.ts';
import { githubErrors } from '../../github/github-errors.ts';
import { githubProvider } from '../../github/github-provider.ts';
import { keptBaseOf } from '../../workspace/git/source/home-repository.ts';
import type { PullHost, PullHostParts } from '../pull-host.ts';
import type {
  MergeRefusal,
  MergeRequest,
  MergeResult,
  OpenedChange,
  ProposedChange,
  PullFacts,
  PullRequests,
  RemoteHost,
} from '../pull-requests.ts';
import { checkGithub } from './check-github.ts';
import { mostAtOnce, readPullsDocument } from './documents.ts';
import { explainCheck } from './explain-check.ts';
import { type GithubBranches, githubBranches } from './github-branches.ts';
import { githubCredential } from './github-credential.ts';
import { githubHostErrors } from './github-host-errors.ts';
import { GithubObjects, missing } from './github-objects.ts';
import { hostSays, ownMark, type PullRecord, pullRecord } from './pull-record.ts';
import { sayVerdict } from './say-verdict.ts';

/** Pull requests on GitHub, for a repository on this machine that is a clone of it. */
export const githubHost: PullHost = {
  name: 'github',
  docs: 'pull-requests.md',
  init: {
    settings: (address) => {
      const found = repositoryOfUrl(address, { web: 'https://github.com' });
      return found && { host: 'github', repository: `${found.owner}/${found.name}` };
    },
    note: 'Changes become pull requests on GitHub. For that Baton needs a token: GITHUB_TOKEN, or the login of `gh`.',
  },
  errors: { ...githubErrors, ...githubHostErrors },
  create: (parts) => {
    const whole = connected(parts);
    return createGithubPulls({ ...whole, objects: new GithubObjects(whole) });
  },
  doctor: async (parts, question) => {
    try {
      return await checkGithub({ ...refusingOthers(connected(parts)), pushes: parts.review.push }, question);
    } catch (error) {
      return [failedBy('github', error)];
    }
  },
};

function connected(parts: PullHostParts): Parts {
  const { git, review, remote, clock, process, redactor } = parts;
  const repository = readRepository(review.repository ?? '');
  const address = githubAddress(review.apiUrl);
  if (repository === null)
    throw unusable('review.repository', 'it must be owner/name', 'Set `review.repository` to a name such as acme/app.');
  if (address === null)
    throw unusable('review.api_url', 'it must be an address', 'Set `review.api_url` to https://HOST/api/v3.');
  const credential = githubCredential(review.token, new URL(address.web).host, { ...process, redactor });
  const clientFor = (token: Secret) => remote.client(githubProvider, token, false);
  const github = createGithub({ address, credential, clientFor, clock });
  return { ...parts, repository, github, branches: githubBranches({ git, address, repository, credential }) };
}

/** An address in `workspace.repo` that names another repository on this GitHub would be ignored. */
function refusingOthers(parts: Parts): Parts {
  const { repo, repository, review } = parts;
  const address = githubAddress(review.apiUrl);
  const named = repo.isLocal || address === null ? null : repositoryOfUrl(repo.location, address);
  if (named === null || `${named.owner}/${named.name}` === `${repository.owner}/${repository.name}`) return parts;
  throw unusable(
    'workspace.repo',
    `it names ${named.owner}/${named.name}, and review.repository names ${repository.owner}/${repository.name}`,
    'Set `workspace.repo` and `review.repository` to the same repository.',
  );
}

function unusable(key: string, why: string, nextStep: string): BatonError {
  const message = `review.host: github cannot use ${key}: ${why}.`;
  return new BatonError('unsupported_setting', message, { nextStep, details: { key } });
}

interface Parts extends PullHostParts {
  readonly repository: GithubRepository;
  readonly github: Github;
  readonly branches: GithubBranches;
}

/** The client, and the commits on this machine and at GitHub. */
export interface GithubPullsParts
  extends Pick<Parts, 'repository' | 'github' | 'review' | 'logger' | 'remote' | 'redactor'> {
  readonly objects: Pick<GithubObjects, 'tips' | 'bringHead' | 'compute' | 'fetchBase'>;
}

const listed = z.object({
  number: z.number(),
  html_url: z.string(),
  state: z.string(),
  body: z.string().nullish(),
  head: z.object({ sha: z.string(), ref: z.string(), label: z.string().nullish() }),
});
const lists = z.array(listed);
const mergeAnswer = z.object({ sha: z.string(), merged: z.literal(true) });
const anything = z.unknown();
const onePull = '/repos/{owner}/{repo}/pulls/{pull_number}';

const byDelivery: GithubAsk = { caller: { job: 'review', cause: 'retry' } };
const byPerson: GithubAsk = { caller: { job: 'review', cause: 'person' } };
/** More kinds of errors than GitHub has. */
const mostLogged = 100;
const byPoll = { job: 'pull_requests', cause: 'poll' } as const;

/**
 * GitHub has the record of a proposal, found by its branch; the repository on this machine has its objects, and lends
 * them to every computation. What must hold beyond the seam:
 *
 * - Only the branch of the change is pushed, by the rules of `GithubBranches`; never the base.
 * - A branch has one open pull request. A head that was merged or closed is not proposed again: the ended one is found.
 *   While Baton's record of one that ended there is open, nothing is pushed and no other one is opened.
 * - All open pull requests are read with one request. GitHub's word on merged and closed counts, nothing else.
 * - GitHub cannot compare the base when it merges. Baton reads it a moment before; a base that moves within that moment
 *   is merged into, as GitHub's own button does.
 */
export function createGithubPulls(parts: GithubPullsParts): PullRequests {
  return new GithubPullRequests(parts);
}

class GithubPullRequests implements PullRequests {
  readonly host = githubHost.name;
  readonly remote: RemoteHost;
  readonly #parts: GithubPullsParts;
  readonly #lastRead = new Map<number, PullFacts>();
  readonly #logged = new Set<string>();

  constructor(parts: GithubPullsParts) {
    this.#parts = parts;
    this.remote = {
      pressure: () => parts.github.pressure(),
      lastRead: ({ hostNumber }) => this.#lastRead.get(hostNumber ?? 0) ?? null,
      fetchBase: (base, signal) => parts.objects.fetchBase(base, signal),
      explainCheck: (check) => explainCheck(parts, check),
      sayVerdict: (pull, verdict) => sayVerdict(parts, pull.hostNumber ?? 0, verdict),
    };
  }

  async open(change: ProposedChange): Promise<OpenedChange> {
    const { branch, base, hostNumber = null } = change;
    if (branch === base) throw missing(branch, 'is the base itself');
    const tips = await this.#parts.objects.tips([branch, base]);
    const baseCommit = tips.get(base);
    if (baseCommit === undefined) throw missing(base);
    const known = await this.#list(branch);
    const ended = known.find(({ number, state }) => number === hostNumber && state !== 'open');
    if (ended !== undefined)
      return { hostNumber, url: ended.html_url, headCommit: ended.head.sha, baseCommit, isOpen: false };
    const headCommit = await this.#parts.objects.bringHead(change, tips.get(branch) ?? null);
    const found = openOrEnded(known, headCommit);
    const pull = found ?? (await this.#create(change, headCommit));
    // After a crash between the two requests the first delivery is tried again.
    if (found === null || (change.earlierHeads ?? []).length === 0) await this.#decorate(pull.number);
    if (found?.state === 'open') await this.#renewReceipt(found, change.receipt);
    return { hostNumber: pull.number, url: pull.html_url, headCommit, baseCommit, isOpen: pull.state === 'open' };
  }

  async update(
    { hostNumber }: PullRequest,
    { title, body, receipt }: Pick<PullRequest, 'title' | 'body'> & { readonly receipt?: string },
  ): Promise<void> {
    if (hostNumber === null) return;
    await this.#change(hostNumber, { title, body: bodyOf(body, receipt) }, byDelivery);
  }

  async findByBranch(branch: string, base: string): Promise<OpenedChange | null> {
    const tips = await this.#parts.objects.tips([branch, base]);
    const [headCommit, baseCommit] = [tips.get(branch), tips.get(base)];
    if (headCommit === undefined || baseCommit === undefined) return null;
    const found = openOrEnded(await this.#list(branch), headCommit);
    if (found === null || found.state !== 'open') return null;
    return { hostNumber: found.number, url: found.html_url, headCommit, baseCommit, isOpen: true };
  }

  async read(pulls: readonly PullRequest[], signal?: AbortSignal): Promise<readonly PullFacts[]> {
    const records = await this.#records(pulls, { caller: byPoll, signal });
    const facts: PullFacts[] = [];
    for (const pull of pulls) {
      signal?.throwIfAborted();
      const record = records.get(pull.hostNumber ?? 0);
      facts.push(record === undefined ? unknownFacts : await this.#factsOf(pull, record, signal));
    }
    return facts;
  }

  async merge(pull: PullRequest, request: MergeRequest): Promise<MergeResult> {
    const { headCommit: head, baseCommit, method } = request;
    const number = pull.hostNumber;
    if (number === null) return refused({ code: 'closed' });
    const objection = async (): Promise<MergeResult | null> => {
      const record = (await this.#records([pull], byPerson)).get(number);
      if (record === undefined) return refused({ code: 'closed' });
      const facts = await this.#factsOf(pull, record);
      if (facts.merged !== null) return { outcome: 'merged', commit: facts.merged.commit, method: facts.merged.method };
      if (facts.headCommit !== head) return refused({ code: 'head_moved', headCommit: facts.headCommit });
      if (facts.baseCommit !== baseCommit) return refused({ code: 'base_moved', baseCommit: facts.baseCommit });
      if (facts.isClosed) return refused({ code: 'closed' });
      if (facts.mergeability === 'conflict') return refused({ code: 'conflict', files: facts.conflicts });
      const red = (facts.checks ?? []).filter(({ isRequired, result }) => isRequired && result !== 'passed');
      if (red.length > 0) return refused({ code: 'checks_missing', names: red.map(({ name }) => name) });
      const last = (await request.objection?.(facts)) ?? null;
      return last === null ? null : refused(last);
    };
    const before = await objection();
    if (before !== null) return before;
    try {
      const { sha } = await this.#parts.github.rest({
        method: 'PUT',
        route: '/repos/{owner}/{repo}/pulls/{pull_number}/merge',
        path: this.#path(number),
        body: { sha: head, merge_method: method },
        data: mergeAnswer,
        ask: byPerson,
      });
      return { outcome: 'merged', commit: sha, method };
    } catch (error) {
      if (!(error instanceof BatonError) || error.code !== 'github_refused') throw error;
      const reason = String(error.details.said);
      return (await objection()) ?? refused({ code: 'protected', reason });
    }
  }

  async close({ hostNumber }: PullRequest): Promise<void> {
    if (hostNumber !== null) await this.#change(hostNumber, { state: 'closed' }, byPerson);
  }

  /** The pull requests of a branch, the newest first. */
  async #list(branch: string): Promise<z.infer<typeof lists>> {
    const { owner } = this.#parts.repository;
    const found = await this.#parts.github.rest({
      method: 'GET',
      route: '/repos/{owner}/{repo}/pulls',
      path: this.#path(),
      query: { head: `${owner}:${branch}`, state: 'all', sort: 'created', direction: 'desc', per_page: 30 },
      data: lists,
      ask: byDelivery,
    });
    // GitHub ignores a filter that it cannot read; a branch of the same name in a fork is somebody else's.
    const own = `${owner}:${branch}`.toLowerCase();
    return found.filter(({ head }) => head.ref === branch && (head.label?.toLowerCase() ?? own) === own);
  }

  async #create(change: ProposedChange, headCommit: string): Promise<z.infer<typeof listed>> {
    const { branch, base, title, body, receipt } = change;
    try {
      return await this.#parts.github.rest({
        method: 'POST',
        route: '/repos/{owner}/{repo}/pulls',
        path: this.#path(),
        body: { title, head: branch, base, body: bodyOf(body, receipt), draft: this.#parts.review.draft },
        data: listed,
        ask: byDelivery,
      });
    } catch (error) {
      if (!(error instanceof BatonError) || error.code !== 'github_refused') throw error;
      // Another daemon was faster.
      const found = openOrEnded(await this.#list(branch), headCommit);
      if (found !== null) return found;
      if (/no commits between/i.test(String(error.details.said)))
        throw missing(branch, `has no commit that ${base} lacks`);
      throw error;
    }
  }

  /** Labels and reviewers. One that GitHub does not know is no reason to keep the change from review. */
  async #decorate(number: number): Promise<void> {
    const { labels, reviewers } = this.#parts.review;
    const [teams, people] = [reviewers.filter(isTeam), reviewers.filter((name) => !isTeam(name))];
    const wanted = [
      ...(labels.length === 0
        ? []
        : [{ route: '/repos/{owner}/{repo}/issues/{issue_number}/labels', body: { labels: [...labels] } }]),
      ...(reviewers.length === 0
        ? []
        : [
            {
              route: '/repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers',
              body: { reviewers: people, team_reviewers: teams.map((name) => name.split('/').at(-1)) },
            },
          ]),
    ];
    for (const { route, body } of wanted) await this.#tryTo(number, { method: 'POST', route, body });
  }

  /** Of a later round. The words above it, which a person may have changed, stay. */
  async #renewReceipt({ number, body: known }: z.infer<typeof listed>, receipt = ''): Promise<void> {
    const body = withReceipt(known ?? '', receipt);
    if (body !== known && body !== null) await this.#tryTo(number, { method: 'PATCH', route: onePull, body: { body } });
  }

  async #tryTo(number: number, call: Pick<RestCall<unknown>, 'method' | 'route' | 'body'>): Promise<void> {
    const { github, logger } = this.#parts;
    const path = this.#path(number);
    await github.rest({ ...call, path, data: anything, ask: byDelivery }).catch((error: unknown) => {
      if (!(error instanceof BatonError) || error.retryable) throw error;
      logger.warn('pull_not_labelled', { pull_request: number, route: call.route, error });
    });
  }

  async #change(number: number, body: Readonly<Record<string, unknown>>, ask: GithubAsk): Promise<void> {
    await this.#parts.github.rest({
      method: 'PATCH',
      route: onePull,
      path: this.#path(number),
      body,
      data: anything,
      ask,
    });
  }

  #path(number = 0): Readonly<Record<string, string | number>> {
    const { owner, name } = this.#parts.repository;
    return { owner, repo: name, pull_number: number, issue_number: number };
  }

  async #records(pulls: readonly PullRequest[], ask: GithubAsk): Promise<ReadonlyMap<number, PullRecord>> {
    const { github, repository } = this.#parts;
    const numbers = [...new Set(pulls.flatMap(({ hostNumber }) => hostNumber ?? []))];
    const found = new Map<number, PullRecord>();
    for (let from = 0; from < numbers.length; from += mostAtOnce) {
      const some = numbers.slice(from, from + mostAtOnce);
      const { repository: records } = await github.graphql({
        name: 'BatonPulls',
        text: readPullsDocument(some.length),
        variables: { ...repository, ...Object.fromEntries(some.map((number, at) => [`n${at}`, number])) },
        data: z.object({ repository: z.record(z.string(), pullRecord.nullable()) }),
        ask,
        onPartial: (errors) => this.#logPartial(errors),
      });
      for (const record of Object.values(records)) if (record !== null) found.set(record.number, record);
    }
    return found;
  }

  /** A pull request that is gone, or a part that the token may not read, says nothing about the others. Each is logged once. */
  #logPartial(errors: readonly GraphqlError[]): void {
    for (const { type, message } of errors) {
      if (this.#logged.has(message)) continue;
      if (this.#logged.size < mostLogged) this.#logged.add(message);
      this.#parts.logger.warn('pull_partly_read', { type, said: message });
    }
  }

  async #factsOf(pull: PullRequest, record: PullRecord, signal?: AbortSignal): Promise<PullFacts> {
    const says = hostSays(record);
    const computed = await this.#parts.objects.compute(pull, record, says, signal);
    const baseReference = keptBaseOf(record.baseRefName);
    const facts = { ...says, ...computed, checkedOutIn: null, base: record.baseRefName, baseReference };
    this.#lastRead.set(record.number, facts);
    return facts;
  }
}

/** The open pull request of a branch; else the one that ended with this head. */
function openOrEnded(pulls: z.infer<typeof lists>, headCommit: string): z.infer<typeof listed> | null {
  return pulls.find(({ state }) => state === 'open') ?? pulls.find(({ head }) => head.sha === headCommit) ?? null;
}

/** Where the receipt begins; it ends at the next mark of Baton. */
const receiptMark = '<!-- baton receipt -->';

function bodyOf(body: string, receipt = ''): string {
  const last = receipt.trim() === '' ? [] : [receiptMark, receipt.trim()];
  return [body.trim(), ...last, ownMark].filter((part) => part !== '').join('\n\n');
}

/** Null where a person removed the receipt, or there is none. */
function withReceipt(body: string, receipt: string): string | null {
  const from = body.lastIndexOf(receiptMark);
  const to = from === -1 ? -1 : body.indexOf(ownMark, from);
  if (to === -1 || receipt.trim() === '') return null;
  return `${body.slice(0, from)}${bodyOf('', receipt)}${body.slice(to + ownMark.length)}`;
}

function isTeam(name: string): boolean {
  return name.includes('/');
}

function refused(refusal: MergeRefusal): MergeResult {
  return { outcome: 'refused', refusal };
}

const unknownFacts: PullFacts = {
  headCommit: null,
  baseCommit: null,
  isEmpty: false,
  mergeability: 'unknown',
  conflicts: [],
  checkedOutIn: null,
  merged: null,
  isClosed: false,
  checks: null,
  reviews: [],
};
