import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratchFolder } from '../workspace/scratch-folder.ts';
import { given, givenMemory, keysIn, refusal } from './given.ts';

const board = (frontMatter: string) => given(`tracker: {kind: board}\n${frontMatter}`);
const asked = 'agent: {backend: rehearsal, after_success: review}';

describe('agent.after_success', () => {
  it('is what Symphony does in a file that does not say', () => {
    expect(givenMemory('').settings.agent.afterSuccess).toBe('continue');
  });

  it('may be review with a repository on this machine and a state for review', () => {
    expect(board(`${asked}\nworkspace: {repo: /repo}`).settings.agent.afterSuccess).toBe('review');
    const mapped = 'tracker: {kind: memory, states: {review: In Review}}';
    expect(given(`${mapped}\n${asked}\nworkspace: {repo: /repo}`).settings.agent.afterSuccess).toBe('review');
  });

  it('may be review with an address where the host has the changes', () => {
    const at = 'workspace: {repo: "https://github.com/acme/app.git"}\nreview: {host: github, repository: acme/app}';
    expect(board(`${asked}\n${at}`).settings.agent.afterSuccess).toBe('review');
  });

  it.each([
    ['without a repository', () => board(asked)],
    ['with a repository that hooks fill in', () => board(`${asked}\nworkspace: {repo: /repo, strategy: none}`)],
    ['with a repository elsewhere', () => board(`${asked}\nworkspace: {repo: "https://example.org/a.git"}`)],
    ['without a state for review', () => givenMemory(`${asked}\nworkspace: {repo: /repo}`)],
  ])('is refused by its key %s', (_what, read) => {
    expect(keysIn(refusal(read))).toEqual(['agent.after_success']);
  });
});

describe('review', () => {
  it('has defaults, and takes commands as checks', () => {
    const { review } = givenMemory('').settings;
    expect(review).toEqual({
      host: 'local',
      repository: null,
      apiUrl: 'https://api.github.com',
      token: null,
      push: true,
      draft: false,
      labels: [],
      reviewers: [],
      mergeMethod: 'merge',
      autoMerge: [],
      maxRounds: 5,
      autoCommit: false,
      checks: [],
      checkTimeoutMs: 900_000,
    });
    const { checks } = givenMemory('review: {checks: [npm test, {name: lint, run: npm run lint, timeout_ms: 5}]}')
      .settings.review;
    expect(checks).toEqual([
      { name: 'npm test', run: 'npm test', timeoutMs: null },
      { name: 'lint', run: 'npm run lint', timeoutMs: 5 },
    ]);
  });

  it.each([
    [
      'agent.after_success',
      () => board('agent: {backend: rehearsal}\nreview: {auto_merge: [docs], checks: [npm test]}'),
    ],
    ['review.checks', () => board(`${asked}\nworkspace: {repo: /repo}\nreview: {auto_merge: [docs]}`)],
  ])('merges by itself only with %s', (needs, read) => {
    expect(refusal(read).details.problems).toMatchObject([{ key: 'review.auto_merge', details: { needs } }]);
  });

  it.each([
    ['review.host', 'review: {host: elsewhere}'],
    ['review.repository', 'review: {host: github}'],
    ['review.repository', 'review: {host: github, repository: "../etc/passwd"}'],
    ['review.api_url', 'review: {host: github, repository: a/b, api_url: "http://github.example.org/api/v3"}'],
    ['review.token', 'review: {host: github, repository: a/b, token: $NOT_SET_ANYWHERE}'],
    ['review.checks', 'review: {checks: [npm test, npm test]}'],
    ['review.max_rounds', 'review: {max_rounds: 0}'],
    ['review.merge_method', 'review: {merge_method: octopus}'],
  ])('refuses a bad %s', (key, frontMatter) => {
    expect(keysIn(refusal(() => givenMemory(frontMatter)))[0]).toContain(key);
  });

  it('warns about a host that no change reaches', () => {
    const at = 'workspace: {repo: /repo}\nreview: {host: github, repository: acme/app}';
    const noEffect = { key: 'review.host', severity: 'warning', details: { problem: 'no_effect' } };
    expect(board(`agent: {backend: rehearsal}\n${at}`).warnings).toMatchObject([noEffect]);
    expect(board(`${asked}\n${at}`).warnings).toEqual([]);
    expect(board('agent: {backend: rehearsal}\nworkspace: {repo: /repo}').warnings).toEqual([]);
  });

  it('takes the token of the host from its variable, or from those of GitHub, and keeps all of them from agents', () => {
    const on = (env: Record<string, string>, more = '') =>
      givenMemory(`review: {host: github, repository: acme/app${more}}`, env).settings;
    const named = on({ MINE: 'ghp_mine', GITHUB_TOKEN: 'ghp_other' }, ', token: $MINE');
    expect(named.review.token?.reveal()).toBe('ghp_mine');
    expect(named.secretEnvironment).toEqual(expect.arrayContaining(['MINE', 'GITHUB_TOKEN', 'GH_TOKEN']));
    expect(on({ GH_TOKEN: 'ghp_gh', GITHUB_TOKEN: 'ghp_github' }).review.token?.reveal()).toBe('ghp_github');
    expect(on({ GH_TOKEN: 'ghp_gh' }).review.token?.reveal()).toBe('ghp_gh');
    const file = path.join(scratchFolder(), 'token');
    writeFileSync(file, 'ghp_file\n');
    expect(on({ GITHUB_TOKEN_FILE: file, GH_TOKEN: 'ghp_gh' }).review.token?.reveal()).toBe('ghp_file');
    expect(on({}).review.token).toBeNull();
    expect(JSON.stringify(named)).not.toContain('ghp_');
    const local = givenMemory('', { GITHUB_TOKEN: 'ghp_x' }).settings;
    expect([local.review.token, local.secretEnvironment.includes('GITHUB_TOKEN')]).toEqual([null, false]);
  });
});
