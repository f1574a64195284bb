import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { git, gits } from '../../workspace/git/scratch-repository.ts';
import { answerGraphql } from './answer-graphql.ts';
import { answerRest } from './answer-rest.ts';
import { createForge, type Forge } from './forge.ts';
import { serveGit } from './git-server.ts';

/** A fault of one answer; with `route` only of that route or operation. */
export type GithubFault = { readonly route?: string } & (
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly body?: unknown;
      readonly headers?: Record<string, string>;
    }
  /** The connection ends without an answer: `before` the request is carried out, or `after` it. */
  | { readonly kind: 'lost'; readonly when: 'before' | 'after' }
  | { readonly kind: 'secondary'; readonly retryAfterSeconds?: number }
  /** Something happens between the request and its answer. */
  | { readonly kind: 'race'; readonly meanwhile: () => void }
);

export interface Account {
  readonly login: string;
  readonly canWrite: boolean;
  /** The organisation wants the token to be authorised. */
  readonly needsSso?: boolean;
  /** Null: a fine-grained token, which announces no scopes. */
  readonly scopes: string | null;
  /** Absent: the same as `canWrite`, for pull requests and for pushes; and yes. */
  readonly canPush?: boolean;
  readonly canWritePulls?: boolean;
  readonly canReadChecks?: boolean;
}

export interface LoggedCall {
  /** `GET /repos/{owner}/{repo}/pulls`, or the name of a GraphQL operation. */
  readonly route: string;
  readonly at: number;
  status: number;
  readonly user: string | null;
}

/**
 * A GitHub that keeps its changes, with one repository `acme/app` on real git. What must hold:
 *
 * - Documents are validated by GitHub's schema, and REST requests and the fake's own answers by GitHub's description; what
 *   breaks either is an entry in `complaints`, and a test with one did not test what it meant to.
 * - It closes, merges and refuses as GitHub does: a removed or emptied branch closes its pull request, a head that
 *   reaches the base merges it, a second pull request of a branch is refused.
 */
export interface FakeGithub extends Forge, AsyncDisposable {
  /** The root of the REST API, as for GitHub Enterprise Server. */
  readonly apiUrl: string;
  /** The address of the repository for git. */
  readonly gitUrl: string;
  readonly token: string;
  readonly accounts: Map<string, Account>;
  readonly faults: GithubFault[];
  readonly limits: { limit: number; used: number; resetAt: number };
  readonly calls: LoggedCall[];
  readonly complaints: string[];
  /** How many requests of git there were. */
  gitRequests: number;
  /** Where it sends git instead of answering; null: nowhere. */
  gitRedirect: string | null;
}

const repositoryName = { owner: 'acme', name: 'app' };

export interface FakeGithubOptions {
  readonly folder: string;
  readonly now?: () => number;
  /** A repository whose `main` it begins with. */
  readonly from: string;
}

export async function startFakeGithub({ folder, from, now = Date.now }: FakeGithubOptions): Promise<FakeGithub> {
  const root = path.join(folder, 'github');
  const repository = path.join(root, repositoryName.owner, `${repositoryName.name}.git`);
  mkdirSync(path.dirname(repository), { recursive: true });
  git(folder, 'clone', '-q', '--bare', from, repository);
  gits(
    repository,
    ['remote', 'remove', 'origin'],
    ...['http.receivepack=true', 'uploadpack.allowAnySHA1InWant=true'].map((setting) => [
      'config',
      ...setting.split('='),
    ]),
  );
  writeFileSync(path.join(repository, 'hooks', 'update'), protection, { mode: 0o755 });
  const forge = createForge(repository, now);
  const token = 'ghp_fakeTokenOfBaton0123456789';
  const accounts = new Map<string, Account>([[token, { login: 'baton-bot', canWrite: true, scopes: 'repo' }]]);
  const faults: GithubFault[] = [];
  const calls: LoggedCall[] = [];
  const complaints: string[] = [];
  const limits = { limit: 5_000, used: 0, resetAt: now() + 3_600_000 };
  const desk = { forge, accounts, complaints, now };

  const carryGit = (request: IncomingMessage, response: ServerResponse, url: URL): void => {
    fake.gitRequests += 1;
    const user = userOf(request, accounts);
    if (fake.gitRedirect !== null)
      response.writeHead(302, { location: `${fake.gitRedirect}${url.pathname}${url.search}` }).end();
    else if (user === null)
      response.writeHead(401, { 'www-authenticate': 'Basic realm="GitHub"' }).end('Authentication required');
    else if (url.searchParams.get('service') === 'git-receive-pack' && !(user.canPush ?? user.canWrite))
      response.writeHead(403).end(`Permission to acme/app.git denied to ${user.login}.`);
    else serveGit(root, request, response, user.login);
  };

  /** As the storage behind GitHub, which would refuse a credential of GitHub's. */
  const carryLog = ({ headers }: IncomingMessage, response: ServerResponse, url: URL): void => {
    if (headers.authorization !== undefined) complaints.push('the storage of logs got a credential');
    const checks = forge.pulls.flatMap(({ headOid }) => forge.checksOf(headOid));
    response.writeHead(200).end(checks.find(({ id }) => url.pathname === `/logs/${id}`)?.log ?? '');
  };

  const announced = (resource: string, scopes: string | null): Record<string, string> => ({
    'content-type': 'application/json; charset=utf-8',
    date: new Date(now()).toUTCString(),
    'x-ratelimit-limit': String(limits.limit),
    'x-ratelimit-remaining': String(Math.max(0, limits.limit - limits.used)),
    'x-ratelimit-reset': String(Math.ceil(limits.resetAt / 1_000)),
    'x-ratelimit-resource': resource,
    ...(scopes === null ? {} : { 'x-oauth-scopes': scopes }),
  });

  /** Why the request is not carried out; null: it is. */
  const refusal = (fault: GithubFault | null, user: Account | null): FakeAnswer | null => {
    if (fault?.kind === 'status')
      return { status: fault.status, body: fault.body ?? { message: 'Server Error' }, headers: fault.headers ?? {} };
    if (fault?.kind === 'secondary') {
      const wait = fault.retryAfterSeconds;
      const message = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';
      return { status: 403, body: { message }, headers: wait === undefined ? {} : { 'retry-after': String(wait) } };
    }
    if (user === null) return { status: 401, body: { message: 'Bad credentials', status: '401' } };
    if (limits.used >= limits.limit)
      return { status: 403, body: { message: 'API rate limit exceeded for user ID 1.' } };
    if (user.needsSso !== true) return null;
    const headers = { 'x-github-sso': 'required; url=https://github.com/orgs/acme/sso?authorization_request=A' };
    return { status: 403, body: { message: 'Resource protected by organization SAML enforcement.' }, headers };
  };

  const takeFault = (route: string): GithubFault | null => {
    const at = faults.findIndex((fault) => fault.route === undefined || fault.route === route);
    return at < 0 ? null : (faults.splice(at, 1)[0] ?? null);
  };

  const carryOut = async (fault: GithubFault | null, isGraphql: boolean, given: Given): Promise<FakeAnswer> => {
    const refused = refusal(fault, given.user);
    if (refused !== null) return refused;
    if (fault?.kind === 'race') fault.meanwhile();
    const found = isGraphql
      ? await answerGraphql(desk, { ...given, user: given.user ?? {} })
      : answerRest.answer(desk, given);
    if (given.method !== 'GET') {
      limits.used += 1;
      return found;
    }
    const etag = `"${createHash('sha256').update(JSON.stringify(found.body)).digest('hex')}"`;
    if (given.ifNoneMatch === etag) return { status: 304, body: null, headers: { etag } };
    limits.used += 1;
    return { ...found, headers: { etag, ...found.headers } };
  };

  const carry = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '', `http://${request.headers.host}`);
    if (url.pathname.startsWith('/logs/')) return carryLog(request, response, url);
    if (!url.pathname.startsWith('/api/')) return carryGit(request, response, url);
    const body = await text(request);
    const user = userOf(request, accounts);
    const isGraphql = url.pathname === '/api/graphql';
    const [method, path] = [request.method ?? 'GET', url.pathname.replace('/api/v3', '')];
    const given = { method, path, url, body, user, ifNoneMatch: request.headers['if-none-match'] };
    const route = isGraphql ? String(JSON.parse(body).operationName) : answerRest.routeOf(given);
    const call: LoggedCall = { route, at: now(), status: 0, user: user?.login ?? null };
    calls.push(call);
    const fault = takeFault(route);
    const isLost = fault?.kind === 'lost';
    if (limits.resetAt <= now()) Object.assign(limits, { used: 0, resetAt: now() + 3_600_000 });
    const answer = isLost && fault.when === 'before' ? null : await carryOut(fault, isGraphql, given);
    if (answer === null || isLost) {
      request.socket.destroy();
      return;
    }
    call.status = answer.status;
    const headers = { ...announced(isGraphql ? 'graphql' : 'core', user?.scopes ?? null), ...answer.headers };
    response.writeHead(answer.status, headers).end(textOf(answer.body));
  };

  const server = createServer((request, response) => {
    carry(request, response).catch((error: unknown) => {
      complaints.push(`the fake failed: ${String(error)}`);
      if (!response.headersSent) response.writeHead(500).end(String(error));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The fake GitHub has no port.');
  const web = `http://127.0.0.1:${address.port}`;
  const fake: FakeGithub = {
    ...forge,
    apiUrl: `${web}/api/v3`,
    gitUrl: `${web}/acme/app.git`,
    token,
    accounts,
    faults,
    limits,
    calls,
    complaints,
    gitRequests: 0,
    gitRedirect: null,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return fake;
}

type Given = Parameters<typeof answerRest.answer>[1] & { readonly ifNoneMatch: string | undefined };

interface FakeAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
}

function textOf(body: unknown): string {
  if (body === null) return '';
  return typeof body === 'string' ? body : JSON.stringify(body);
}

/** Refuses pushes to the branches in the file `protected`, with GitHub's words. */
const protection = `#!/bin/sh
[ -f protected ] && grep -qxF "$1" protected || exit 0
echo "error: GH006: Protected branch update failed for $1." >&2
exit 1
`;

function userOf(
  { headers: { authorization = '' } }: IncomingMessage,
  accounts: FakeGithub['accounts'],
): Account | null {
  const [, scheme = '', value = ''] = /^(Bearer|token|Basic) (.+)$/i.exec(authorization) ?? [];
  if (scheme.toLowerCase() !== 'basic') return accounts.get(value) ?? null;
  return accounts.get(Buffer.from(value, 'base64').toString().split(':').slice(1).join(':')) ?? null;
}
