import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { githubHost } from '../../../src/pulls/github/github-host.ts';
import { git } from '../../workspace/git/scratch-repository.ts';
import { branch } from '../pull-scene.ts';
import { change, type GithubScene, githubScene, proposedOnGithub, stopGithubs } from './github-scene.ts';

let scene: GithubScene;

afterEach(async () => {
  expect(scene.github.complaints).toEqual([]);
  await stopGithubs();
});

async function proposed() {
  const made = await proposedOnGithub();
  scene = made;
  return made;
}

describe('the push', () => {
  it('replaces a head of its own that the agent rewrote, and adds to the branch', async () => {
    const { pulls, github, publish, head } = await proposed();
    const second = publish(branch, { 'new.txt': 'again\n' }, head);
    expect(await pulls.open({ ...change, earlierHeads: [head] })).toMatchObject({ headCommit: second });
    const rebased = publish(branch, { 'new.txt': 'rewritten\n' });
    expect(await pulls.open({ ...change, earlierHeads: [head, second] })).toMatchObject({ headCommit: rebased });
    expect([github.tip(branch), github.pulls.length]).toEqual([rebased, 1]);
  });

  it('never replaces commits of others', async () => {
    const { pulls, github, publish, push, head } = await proposed();
    const theirs = push(branch, { 'theirs.txt': 'x\n' });
    publish(branch, { 'new.txt': 'rewritten\n' });
    await expect(pulls.open({ ...change, earlierHeads: [head] })).rejects.toMatchObject({
      code: 'change_not_published',
    });
    expect(github.tip(branch)).toBe(theirs);
  });

  it('leaves a branch alone that others built on', async () => {
    const { pulls, github, push, head } = await proposed();
    const theirs = push(branch, { 'theirs.txt': 'x\n' });
    expect(await pulls.open({ ...change, earlierHeads: [head] })).toMatchObject({ headCommit: theirs });
    expect(github.tip(branch)).toBe(theirs);
  });

  it('never goes to the base, nor to a branch that the repository protects', async () => {
    scene = await githubScene();
    const main = scene.github.tip('main');
    scene.publish('main', { 'new.txt': 'x\n' });
    await expect(scene.pulls.open({ ...change, branch: 'main' })).rejects.toMatchObject({ code: 'change_missing' });
    scene.publish(branch, { 'other.txt': 'x\n' });
    scene.github.protect(branch);
    await expect(scene.pulls.open(change)).rejects.toMatchObject({
      code: 'github_push_refused',
      details: { remarks: expect.stringContaining('Protected branch') },
    });
    expect([scene.github.tip('main'), scene.github.tip(branch)]).toEqual([main, null]);
  });

  it('is left to the user with review.push: false', async () => {
    scene = await githubScene({ push: false });
    const head = scene.publish(branch, { 'new.txt': 'hello\n' });
    await expect(scene.pulls.open(change)).rejects.toMatchObject({ code: 'change_not_pushed', retryable: true });
    expect(scene.github.tip(branch)).toBeNull();
    git(scene.source, 'push', '-q', scene.github.repository, `${head}:refs/heads/${branch}`);
    expect(await scene.pulls.open(change)).toMatchObject({ headCommit: head });
  });

  it.each([
    ['a wrong token', 'github_auth', (it: GithubScene) => it.github.accounts.clear()],
    [
      'a token that may not write',
      'github_forbidden',
      ({ github }: GithubScene) => github.accounts.set(github.token, { login: 'x', canWrite: false, scopes: null }),
    ],
  ])('says %s', async (_what, code, spoil) => {
    scene = await githubScene();
    scene.publish(branch, { 'new.txt': 'x\n' });
    spoil(scene);
    await expect(scene.pulls.open(change)).rejects.toMatchObject({ code });
  });

  it('puts the token into no file and no configuration, and ignores addresses that an agent rewrote', async () => {
    scene = await githubScene();
    git(scene.source, 'config', 'url.http://127.0.0.1:1/.insteadOf', scene.github.gitUrl.replace('/acme/app.git', '/'));
    git(scene.source, 'config', 'http.proxy', 'http://127.0.0.1:1');
    scene.publish(branch, { 'new.txt': 'x\n' });
    await scene.pulls.open(change);
    const basic = Buffer.from(`x-access-token:${scene.github.token}`).toString('base64');
    const { status } = findText(scene.folder, [scene.github.token, basic]);
    expect(status).toBe('absent');
    expect(readFileSync(path.join(scene.source, '.git/config'), 'utf8')).not.toContain('extraHeader');
  });
});

describe('an address that redirects', () => {
  it('does not get the token', async () => {
    scene = await githubScene();
    const { pulls, github, publish } = scene;
    const got: (string | undefined)[] = [];
    const other = createServer(({ headers }, response) => {
      got.push(headers.authorization);
      response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    publish(branch, { 'new.txt': 'x\n' });
    github.gitRedirect = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    await expect(pulls.open(change)).rejects.toThrow();
    expect(github.gitRequests).toBeGreaterThan(0);
    other.close();
    expect(got).toEqual([]);
  });
});

function findText(folder: string, texts: readonly string[]): { readonly status: 'absent' | 'present' } {
  for (const text of texts) {
    try {
      git(folder, 'grep', '--no-index', '-lF', '-e', text, '--', '.');
      return { status: 'present' };
    } catch {
      // Nothing found.
    }
  }
  return { status: 'absent' };
}

describe('the base of new work', () => {
  it('is the one of GitHub, in a clone that is behind or has commits of its own, whose branches stay', async () => {
    scene = await githubScene();
    const { push, publish, source, pulls } = scene;
    const mine = publish('main', { 'mine.txt': 'not pushed\n' });
    const theirs = push('main', { 'theirs.txt': 'x\n' });
    expect(await pulls.remote?.fetchBase('main')).toBe('main');
    expect(git(source, 'rev-parse', 'main', 'refs/baton/base/main').split('\n')).toEqual([mine, theirs]);
    expect(git(source, 'show', `${theirs}:theirs.txt`)).toBe('x');
    await expect(pulls.remote?.fetchBase('none')).rejects.toMatchObject({ code: 'change_missing' });
    // No branch is checked out there.
    await expect(pulls.remote?.fetchBase(null)).rejects.toMatchObject({ code: 'repository_unavailable' });
  });

  it('comes into a repository of Baton where there is no clone; changes go out from there', async () => {
    scene = await githubScene();
    const { push, parts, github, source } = scene;
    const { places, git: ownGit } = parts();
    const location = path.join(places.caches, 'app.home.git');
    const pulls = githubHost.create({ ...parts(), repo: { location, shown: location, isLocal: true } });
    expect(await pulls.remote?.fetchBase(null)).toBe('main');
    const moved = push('main', { 'more.txt': 'x\n' });
    expect(await pulls.remote?.fetchBase(null)).toBe('main');
    expect(git(location, 'rev-parse', 'main', 'refs/baton/base/main').split('\n')).toEqual([moved, moved]);
    const head = scene.publish(branch, { 'new.txt': 'hello\n' });
    await ownGit.run({ args: ['fetch', '-q', source, `${head}:refs/heads/${branch}`], gitDir: location });
    expect(await pulls.open(change)).toMatchObject({ hostNumber: 1, headCommit: head, baseCommit: moved });
    expect(github.tip(branch)).toBe(head);
    expect(findText(scene.folder, [github.token]).status).toBe('absent');
  });
});
