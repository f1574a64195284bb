import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Secret } from '../../src/core/text/secret.ts';
import { createGithub, type Github } from '../../src/github/github.ts';
import { githubAddress } from '../../src/github/github-address.ts';
import { githubProvider } from '../../src/github/github-provider.ts';
import type { SentRequest } from '../../src/http/http.ts';
import { createLimiterRegistry } from '../../src/http/limiter-registry.ts';
import { createHttpClient } from '../../src/http/metered-client.ts';
import { createUndiciTransport } from '../../src/http/undici-transport.ts';
import { readPullsDocument } from '../../src/pulls/github/documents.ts';
import { type FakeGithub, startFakeGithub } from '../fake/github/fake-github.ts';
import { checkDocument } from '../fake/github/github-schema.ts';
import { memoryLogger } from '../fake/memory-logger.ts';
import { SimulatedClock } from '../fake/simulated-clock.ts';
import { scratchRepository } from '../workspace/git/scratch-repository.ts';
import { scratchFolder } from '../workspace/scratch-folder.ts';

const clock = new SimulatedClock();
const ask = { caller: { job: 'test', cause: 'person' } } as const;
let fake: FakeGithub;
let github: Github;
let sent: SentRequest[];
let read: string[];

beforeEach(async () => {
  const folder = scratchFolder();
  fake = await startFakeGithub({ folder, from: scratchRepository(`${folder}/source`), now: () => clock.now() });
  sent = [];
  read = [fake.token];
  const limiters = createLimiterRegistry(clock);
  const transport = createUndiciTransport({ environment: {}, userAgent: 'baton/test' });
  github = createGithub({
    address: githubAddress(fake.apiUrl) ?? { rest: '', graphql: '', web: '' },
    credential: { token: async () => new Secret(read[0] ?? ''), refused: () => void read.shift() },
    clientFor: (credential) =>
      createHttpClient({
        ...{ provider: githubProvider, credential, limiters, transport, clock, logger: memoryLogger() },
        budget: () => ({ requestsPerHour: null, requestsPerDay: null }),
        onSent: (request) => void sent.push(request),
        allowInsecure: false,
      }),
    clock,
  });
});

afterEach(async () => {
  expect(fake.complaints).toEqual([]);
  await fake[Symbol.asyncDispose]();
});

const list = () =>
  github.rest({
    method: 'GET',
    route: '/repos/{owner}/{repo}/pulls',
    path: { owner: 'acme', repo: 'app' },
    query: { state: 'all' },
    data: z.array(z.object({ number: z.number() })),
    ask,
  });
const code = (work: Promise<unknown>) => expect(work).rejects;

describe('the client of GitHub', () => {
  it('asks a second time only whether something changed, and counts both requests under the route', async () => {
    expect(await list()).toEqual([]);
    expect(await list()).toEqual([]);
    expect(fake.calls.map(({ status }) => status)).toEqual([200, 304]);
    expect(fake.limits.used).toBe(1);
    expect(sent.map(({ route, method }) => `${method} ${route}`)).toEqual([
      'GET /repos/{owner}/{repo}/pulls',
      'GET /repos/{owner}/{repo}/pulls',
    ]);
  });

  it('tells what is wrong apart, in codes', async () => {
    const status = (number: number, headers: Record<string, string> = {}) =>
      fake.faults.push({ kind: 'status', status: number, body: { message: 'words' }, headers });
    status(404);
    await code(list()).toMatchObject({ code: 'github_not_found', retryable: false, details: { said: 'words' } });
    status(403, { 'x-accepted-github-permissions': 'pull_requests=write' });
    await code(list()).toMatchObject({ code: 'github_forbidden', details: { needs: 'pull_requests=write' } });
    status(301, { location: 'https://api.github.com/repositories/1' });
    await code(list()).toMatchObject({ code: 'github_moved' });
    status(422);
    await code(list()).toMatchObject({ code: 'github_refused', details: { status: 422 } });
    status(502);
    await code(list()).toMatchObject({ code: 'github_status', retryable: true });
    fake.faults.push({ kind: 'lost', when: 'before' });
    await code(list()).toMatchObject({ code: 'github_unreachable', retryable: true });
    fake.faults.push({ kind: 'status', status: 200, body: 'no json at all' });
    await code(list()).toMatchObject({ code: 'github_response' });
    fake.faults.push({ kind: 'status', status: 200, body: [{ number: 'one' }] });
    await code(list()).toMatchObject({ code: 'github_response' });
    fake.accounts.set(fake.token, { login: 'x', canWrite: true, needsSso: true, scopes: null });
    await code(list()).toMatchObject({
      code: 'github_sso',
      details: { url: 'https://github.com/orgs/acme/sso?authorization_request=A' },
    });
  });

  it('reads its credential again after it was refused', async () => {
    fake.accounts.set('ghp_theNextToken', { login: 'next', canWrite: true, scopes: null });
    read = ['ghp_anEarlierToken', 'ghp_theNextToken'];
    await code(list()).toMatchObject({ code: 'github_auth' });
    await list();
    expect(fake.calls.map(({ user }) => user)).toEqual([null, 'next']);
  });

  it('repeats the token in no error, whatever GitHub says', async () => {
    const body = { message: `bad ${fake.token}`, errors: [{ message: fake.token }, fake.token] };
    fake.faults.push({ kind: 'status', status: 422, body });
    const error = await list().catch((thrown: unknown) => thrown);
    expect(JSON.stringify(error)).toContain('bad [secret]');
    expect(JSON.stringify(error) + String((error as Error).stack)).not.toContain(fake.token);
  });

  it.each([
    ['a secondary limit with a time', 30_000, () => fake.faults.push({ kind: 'secondary', retryAfterSeconds: 30 })],
    ['a secondary limit without one', 60_000, () => fake.faults.push({ kind: 'secondary' })],
    [
      'the primary limit',
      600_000,
      () => Object.assign(fake.limits, { used: 5_000, resetAt: Math.ceil(clock.now() / 1_000) * 1_000 + 600_000 }),
    ],
  ])('sends nothing while %s holds, and goes on afterwards', async (_what, waitMs, limit) => {
    limit();
    await code(list()).toMatchObject({ code: 'github_rate_limited', retryable: true });
    await clock.advance(waitMs - 2_000);
    await code(list()).toMatchObject({ code: 'github_rate_limited' });
    expect(fake.calls).toHaveLength(1);
    await clock.advance(4_000);
    expect(await list()).toEqual([]);
  });

  it('rejects an answer of GraphQL with errors', async () => {
    const call = (owner: string) =>
      github.graphql({
        name: 'BatonPulls',
        text: readPullsDocument(1),
        variables: { owner, name: 'app', n0: 7 },
        data: z.unknown(),
        ask,
      });
    await code(call('other')).toMatchObject({ code: 'github_not_found', details: { type: 'NOT_FOUND' } });
  });
});

it.each([1, 2, 50])('the document for %i pull requests is valid by the schema of GitHub', (count) => {
  expect(checkDocument(readPullsDocument(count)).errors).toEqual([]);
});
