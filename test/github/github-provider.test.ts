import { describe, expect, it } from 'vitest';
import { githubAddress, readRepository, repositoryOfUrl } from '../../src/github/github-address.ts';
import { githubProvider } from '../../src/github/github-provider.ts';
import type { HttpAnswer } from '../../src/http/http.ts';

const now = Date.UTC(2026, 0, 1);
const reset = now / 1_000 + 600;

const answer = (status: number, headers: Record<string, string> = {}, body = ''): HttpAnswer => ({
  status,
  headers,
  body,
  isUnchanged: false,
});
const rate = (remaining: string) => ({
  'x-ratelimit-limit': '5000',
  'x-ratelimit-remaining': remaining,
  'x-ratelimit-reset': String(reset),
  'x-ratelimit-resource': 'graphql',
});
const secondary = '{"message":"You have exceeded a secondary rate limit. Please wait."}';
const limited = '{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}';

describe("GitHub's limits", () => {
  it('are read from the headers, with resets in seconds', () => {
    const expected = [{ name: 'graphql', limit: 5_000, remaining: 7, resetAt: reset * 1_000 }];
    expect(githubProvider.announced(rate('7'), now)).toEqual(expected);
    expect(githubProvider.announced({ ...rate('7'), 'x-ratelimit-reset': 'soon' }, now)).toEqual([]);
    expect(githubProvider.announced({}, now)).toEqual([]);
  });

  it.each([
    ['a whole answer', answer(200, rate('7')), null],
    ['the last answer of a window', answer(200, rate('0')), null],
    ['words about it in data', answer(200, rate('7'), '{"data":{"x":"RATE_LIMITED"}}'), null],
    ['a missing permission', answer(403, rate('7'), '{"message":"Resource not accessible"}'), null],
    ['the primary limit', answer(403, rate('0')), { until: reset * 1_000 }],
    ['the primary limit as 429', answer(429, rate('0')), { until: reset * 1_000 }],
    ['the primary limit of GraphQL', answer(200, rate('0'), limited), { until: reset * 1_000 }],
    ['a secondary limit with a time', answer(403, { ...rate('7'), 'retry-after': '30' }, secondary), { until: null }],
    ['a secondary limit in words', answer(403, rate('7'), secondary), { until: now + 60_000 }],
    ['a 429 without words', answer(429, rate('7')), { until: now + 60_000 }],
    ['an error of the server', answer(502), null],
  ])('lead to a refusal or not: %s', (_what, given, expected) => {
    expect(githubProvider.refusal(given, now)).toEqual(expected);
  });
});

describe('the addresses of GitHub', () => {
  it.each([
    ['https://api.github.com', 'https://api.github.com/graphql', 'https://github.com'],
    ['https://api.octo.ghe.com/', 'https://api.octo.ghe.com/graphql', 'https://octo.ghe.com'],
    ['https://git.acme.org/api/v3', 'https://git.acme.org/api/graphql', 'https://git.acme.org'],
    ['https://acme.org/git/api/v3/', 'https://acme.org/git/api/graphql', 'https://acme.org/git'],
  ])('follow from %s', (apiUrl, graphql, web) => {
    expect(githubAddress(apiUrl)).toEqual({ rest: apiUrl.replace(/\/$/, ''), graphql, web });
  });

  it.each(['', 'api.github.com', 'file:///x', 'https://u:p@api.github.com', 'https://api.github.com/?x=1'])(
    'do not follow from "%s"',
    (apiUrl) => {
      expect(githubAddress(apiUrl)).toBeNull();
    },
  );

  it('name a repository as GitHub does, and nothing else', () => {
    expect(readRepository(' acme/app.git ')).toEqual({ owner: 'acme', name: 'app' });
    for (const text of ['', 'acme', '../x', 'acme/..', 'a/b/c', '-a/b', 'a/b?c', 'a/b c'])
      expect(readRepository(text)).toBeNull();
    const github = githubAddress('https://api.github.com') ?? { rest: '', graphql: '', web: '' };
    const app = { owner: 'acme', name: 'app' };
    for (const url of [
      'https://github.com/acme/app.git',
      'git@github.com:acme/app.git',
      'ssh://git@github.com/acme/app',
    ])
      expect(repositoryOfUrl(url, github)).toEqual(app);
    for (const url of ['https://gitlab.com/acme/app', 'https://github.com.evil.org/acme/app', '/home/me/app'])
      expect(repositoryOfUrl(url, github)).toBeNull();
  });
});
