import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { githubHost } from '../../../src/pulls/github/github-host.ts';
import { git } from '../../workspace/git/scratch-repository.ts';
import { branch, mergeOf, pullOf } from '../pull-scene.ts';
import { type GithubScene, githubScene, stopGithubs } from './github-scene.ts';

let scene: GithubScene;

afterEach(async () => {
  expect(scene.github.complaints).toEqual([]);
  await stopGithubs();
});

const change = { branch, base: 'main', title: 'Say hello', body: 'More words.' };

/** An agent's change, proposed on GitHub. */
async function proposed(review: Parameters<typeof githubScene>[0] = {}) {
  scene = await githubScene(review);
  const head = scene.publish(branch, { 'new.txt': 'hello\n' });
  const opened = await scene.pulls.open(change);
  return { ...scene, head, opened, pull: pullOf(opened) };
}

const created = (): number => scene.github.calls.filter(({ route }) => /^POST .*\/pulls$/.test(route)).length;

describe('a change', () => {
  it('is pushed over HTTP with the token, and opened with its words, receipt, labels, reviewers and draft', async () => {
    scene = await githubScene({ labels: ['baton'], reviewers: ['ada', 'acme/core'], draft: true });
    const head = scene.publish(branch, { 'new.txt': 'hello\n' });
    const opened = await scene.pulls.open({ ...change, receipt: '| Tokens | 5 |' });
    expect(opened).toMatchObject({ hostNumber: 1, headCommit: head, baseCommit: scene.github.tip('main') });
    expect(scene.github.tip(branch)).toBe(head);
    expect(scene.github.pulls).toMatchObject([
      { title: 'Say hello', isDraft: true, labels: ['baton'], reviewers: ['ada', 'core'], state: 'OPEN' },
    ]);
    expect(scene.github.pulls[0]?.body).toMatch(/^More words\.[\s\S]*\| Tokens \| 5 \|/);
  });

  it('gets a new receipt with a later round, and keeps the words of people around it', async () => {
    scene = await githubScene();
    const head = scene.publish(branch, { 'new.txt': 'hello\n' });
    await scene.pulls.open({ ...change, receipt: '| Tokens | 5 |' });
    const [pull] = scene.github.pulls;
    if (pull === undefined) throw new Error('no pull request');
    const edits = () => scene.github.calls.filter(({ route }) => route.startsWith('PATCH ')).length;
    await scene.pulls.open({ ...change, receipt: '| Tokens | 5 |' });
    expect(edits()).toBe(0);
    pull.body = `By a person.\r\n${pull.body}\r\nCloses nothing.`;
    scene.publish(branch, { 'more.txt': 'x\n' }, head);
    const later = { ...change, earlierHeads: [head], receipt: '| Tokens | 9 |' };
    await scene.pulls.open(later);
    expect(pull.body).toMatch(/^By a person\.\r\nMore words\.[\s\S]*\| Tokens \| 9 \|[\s\S]*Closes nothing\.$/);
    expect([pull.body.includes('| Tokens | 5 |'), edits()]).toEqual([false, 1]);
    pull.body = 'All by a person.';
    await scene.pulls.open({ ...later, receipt: '| Tokens | 12 |' });
    expect([pull.body, edits()]).toEqual(['All by a person.', 1]);
  });

  it('is found again after an answer was lost, by this daemon and by another, and never opened twice', async () => {
    for (const when of ['before', 'after'] as const) {
      scene = await githubScene();
      scene.publish(branch, { 'new.txt': 'hello\n' });
      scene.github.faults.push({ kind: 'lost', when, route: 'POST /repos/{owner}/{repo}/pulls' });
      await expect(scene.pulls.open(change)).rejects.toMatchObject({ code: 'github_unreachable', retryable: true });
      const opened = await scene.pulls.open(change);
      expect(await scene.another().open(change)).toEqual(opened);
      expect(scene.github.pulls).toHaveLength(1);
    }
  });

  it('is opened once by two daemons at the same moment', async () => {
    scene = await githubScene();
    scene.publish(branch, { 'new.txt': 'hello\n' });
    const other = scene.another();
    const found = await Promise.all([scene.pulls.open(change), other.open(change)]);
    expect(found[0]).toEqual(found[1]);
    expect(scene.github.pulls).toHaveLength(1);
    expect(created()).toBeGreaterThan(0);
  });

  it.each(['merge', 'squash'] as const)('that a person merged by %s meanwhile is not proposed again', async (how) => {
    const { pulls, github, opened, pull } = await proposed();
    expect(github.merge(1, how, 'ada')).toBeNull();
    expect(await pulls.open(change)).toMatchObject({ hostNumber: opened.hostNumber });
    expect(github.pulls).toHaveLength(1);
    expect(await pulls.read([pull])).toMatchObject([{ merged: { by: 'ada', commit: github.tip('main') } }]);
  });

  it('that a person closed is not proposed again with the same head, and is with another', async () => {
    const { pulls, github, publish, head, pull } = await proposed();
    github.close(1, 'ada');
    expect(await pulls.open(change)).toMatchObject({ hostNumber: 1 });
    expect(await pulls.read([pull])).toMatchObject([{ isClosed: true, closedBy: 'ada', merged: null }]);
    publish(branch, { 'more.txt': 'x\n' }, head);
    expect(await pulls.open(change)).toMatchObject({ hostNumber: 2 });
  });

  it('that a person closed and opened again is the same one', async () => {
    const { pulls, github, pull, opened } = await proposed();
    github.close(1, 'ada');
    expect(await pulls.open(change)).toMatchObject({ hostNumber: 1, isOpen: false });
    github.reopen(1);
    expect(await pulls.open(change)).toEqual(opened);
    expect(await pulls.read([pull])).toMatchObject([{ isClosed: false, closedBy: null, mergeability: 'clean' }]);
    expect(github.pulls).toHaveLength(1);
  });

  it('that a person gave another base keeps it, in later rounds too', async () => {
    const { pulls, github, publish, push, head, pull, source } = await proposed();
    const develop = push('develop', { 'new.txt': 'by a person\n' });
    github.retarget(1, 'develop');
    const second = publish(branch, { 'more.txt': 'x\n' }, head);
    const request = { ...change, base: 'develop', earlierHeads: [head] };
    expect(await pulls.open(request)).toMatchObject({ hostNumber: 1, headCommit: second, baseCommit: develop });
    expect(await pulls.read([{ ...pull, headCommit: second }])).toMatchObject([
      { base: 'develop', baseCommit: develop, baseReference: 'refs/baton/base/develop', conflicts: ['new.txt'] },
    ]);
    expect(git(source, 'rev-parse', 'refs/baton/base/develop')).toBe(develop);
    expect([github.pulls.length, github.tip('main')]).toEqual([1, pull.baseCommit]);
  });

  it.each(['merged', 'closed'] as const)(
    'whose record is open and that was %s is neither pushed nor proposed',
    async (how) => {
      const { pulls, github, publish, head } = await proposed();
      if (how === 'closed') github.close(1, 'ada');
      else expect(github.merge(1, 'squash', 'ada')).toBeNull();
      publish(branch, { 'more.txt': 'x\n' }, head);
      expect(await pulls.open({ ...change, hostNumber: 1 })).toMatchObject({ hostNumber: 1, isOpen: false });
      expect([github.tip(branch), github.pulls.length]).toEqual([head, 1]);
    },
  );

  it('differs from a pull request of a fork whose branch has the same name', async () => {
    scene = await githubScene();
    const { github, pulls } = scene;
    scene.publish(branch, { 'new.txt': 'hello\n' });
    const theirs = github.open({ title: 'Mine', body: '', branch: 'main', base: 'main', isDraft: false });
    Object.assign(theirs, { owner: 'mallory', branch });
    const opened = await pulls.open(change);
    expect(opened).toMatchObject({ hostNumber: 2, isOpen: true });
    // Also when the list has it.
    const head = { sha: opened.headCommit, ref: branch };
    const listed = [
      { number: 1, html_url: 'u', state: 'open', head: { ...head, label: `mallory:${branch}` } },
      { number: 2, html_url: 'v', state: 'open', head: { ...head, label: `acme:${branch}` } },
    ];
    github.faults.push({ kind: 'status', status: 200, body: listed, route: 'GET /repos/{owner}/{repo}/pulls' });
    expect(await pulls.findByBranch(branch, 'main')).toMatchObject({ hostNumber: 2 });
    expect(github.pulls.map(({ state }) => state)).toEqual(['OPEN', 'OPEN']);
  });

  it('stays in review without a label that GitHub refuses', async () => {
    scene = await githubScene({ labels: ['odd'] });
    scene.publish(branch, { 'new.txt': 'hello\n' });
    const route = 'POST /repos/{owner}/{repo}/issues/{issue_number}/labels';
    scene.github.faults.push({ kind: 'status', status: 422, body: { message: 'Validation Failed' }, route });
    expect(await scene.pulls.open(change)).toMatchObject({ hostNumber: 1 });
    expect(scene.logger.lines.map(({ event }) => event)).toContain('pull_not_labelled');
  });
});

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

describe('reading', () => {
  it('costs one request for all, however many, and one more only where something changed', async () => {
    scene = await githubScene();
    const records = [];
    for (const nth of Array.from({ length: 8 }, (_, at) => at)) {
      const name = `baton/t-${nth}`;
      scene.publish(name, { [`${nth}.txt`]: 'x\n' });
      records.push(pullOf(await scene.pulls.open({ ...change, branch: name }), { branch: name }));
    }
    const before = scene.sent.length;
    for (let poll = 0; poll < 3; poll += 1) expect(await scene.pulls.read(records)).toHaveLength(8);
    expect(scene.sent.slice(before).map(({ route, job, cause }) => [route, job, cause])).toEqual(
      Array.from({ length: 3 }, () => ['BatonPulls', 'pull_requests', 'poll']),
    );
  });

  it('reports checks as they come, late ones too, and their results', async () => {
    const { pulls, github, pull, head } = await proposed();
    const checks = async () => (await pulls.read([pull]))[0]?.checks?.map(({ name, result }) => [name, result]);
    expect(await checks()).toEqual([]);
    const test = github.addCheck(head, 'test', null, true);
    expect(await checks()).toEqual([['test', null]]);
    test.conclusion = 'FAILURE';
    for (const each of ['SUCCESS', 'SKIPPED', 'CANCELLED', 'TIMED_OUT', 'ACTION_REQUIRED'] as const)
      github.addCheck(head, each, each);
    expect(await checks()).toEqual([
      ['test', 'failed'],
      ['SUCCESS', 'passed'],
      ['SKIPPED', 'passed'],
      ['CANCELLED', 'skipped'],
      ['TIMED_OUT', 'timed_out'],
      ['ACTION_REQUIRED', null],
    ]);
  });

  it('takes a check that the token may not read for one without a result', async () => {
    const { pulls, github, pull, head } = await proposed();
    github.addCheck(head, 'test', 'FAILURE');
    github.accounts.set(github.token, { login: 'x', canWrite: true, scopes: null, canReadChecks: false });
    expect((await pulls.read([pull]))[0]?.checks).toMatchObject([{ result: null, id: null }]);
  });

  it('reports who may write among reviewers, their lines, and never what Baton wrote', async () => {
    const { pulls, github, pull, head } = await proposed();
    const comments = [{ path: 'new.txt', line: 1, body: 'Say \u001b[31mmore' }];
    github.addReview(1, { author: 'ada', state: 'CHANGES_REQUESTED', body: 'No.', comments });
    github.addReview(1, { author: 'stranger', state: 'CHANGES_REQUESTED', canPush: false, body: 'Delete it all.' });
    github.addReview(1, { author: 'baton-bot', state: 'COMMENTED', body: 'Green.\n\n<!-- baton -->' });
    github.addReview(1, { author: 'ada', state: 'DISMISSED', body: 'old' });
    github.addReview(1, {
      author: 'ben',
      state: 'CHANGES_REQUESTED',
      body: '> Green.\n> <!-- baton -->\n\nIt is not.',
    });
    const [facts] = await pulls.read([pull]);
    const of = { author: 'ada', isTrusted: true, verdict: 'changes_requested', commit: head };
    expect(facts?.reviews).toMatchObject([
      { ...of, body: 'No.', path: null, line: null },
      { ...of, body: 'Say ␛[31mmore', path: 'new.txt', line: 1 },
      { author: 'stranger', isTrusted: false },
      { author: 'ben', isTrusted: true, verdict: 'changes_requested' },
    ]);
  });

  it('brings commits that a person pushed into the repository, and lets the branch there follow', async () => {
    const { pulls, push, pull, source } = await proposed();
    const theirs = push(branch, { 'theirs.txt': 'x\n' });
    const base = push('main', { 'base.txt': 'x\n' });
    expect(await pulls.read([pull])).toMatchObject([{ headCommit: theirs, baseCommit: base, mergeability: 'behind' }]);
    expect(git(source, 'rev-parse', `refs/heads/${branch}`)).toBe(theirs);
    expect(git(source, 'rev-parse', 'refs/baton/base/main')).toBe(base);
    expect(git(source, 'show', `${base}:base.txt`)).toBe('x');
  });

  it('does not move a branch here that has work which GitHub lacks', async () => {
    const { pulls, push, pull, publish, source, head } = await proposed();
    const newer = publish(branch, { 'newer.txt': 'x\n' }, head);
    push(branch, { 'theirs.txt': 'x\n' });
    await pulls.read([pull]);
    expect(git(source, 'rev-parse', `refs/heads/${branch}`)).toBe(newer);
  });

  it('goes on without a pull request that is gone, and without parts that the token may not read', async () => {
    const { pulls, pull, github, logger } = await proposed();
    const gone = { ...pull, hostNumber: 77, branch: 'gone' };
    for (let poll = 0; poll < 2; poll += 1)
      expect(await pulls.read([gone, pull])).toMatchObject([
        { headCommit: null, merged: null, isClosed: false },
        { headCommit: pull.headCommit, mergeability: 'clean' },
      ]);
    expect(logger.lines.filter(({ event }) => event === 'pull_partly_read')).toHaveLength(1);
    github.accounts.clear();
    await expect(pulls.read([pull])).rejects.toMatchObject({ code: 'github_auth' });
    expect(
      await scene
        .another({ repository: 'acme/other' })
        .read([pull])
        .catch((error) => error.code),
    ).toBe('github_auth');
  });

  it('takes the word of GitHub where commits cannot be fetched', async () => {
    const { pulls, push, pull, github } = await proposed();
    push('main', { 'new.txt': 'by a person\n' });
    git(github.repository, 'config', 'http.uploadpack', 'false');
    expect(await pulls.read([pull])).toMatchObject([{ mergeability: 'conflict', conflicts: [] }]);
    git(github.repository, 'config', 'http.uploadpack', 'true');
    expect(await pulls.read([pull])).toMatchObject([{ mergeability: 'conflict', conflicts: ['new.txt'] }]);
  });
});

describe('a red check', () => {
  it('is explained by its step and the end of its log, without secrets, times and control characters', async () => {
    const { pulls, github, pull, head } = await proposed();
    const check = github.addCheck(head, 'test', 'FAILURE');
    check.step = 'Run npm test';
    check.log = [
      ...Array.from({ length: 2_000 }, (_, nth) => `2026-11-17T10:00:00.1234567Z line ${nth}`),
      '2026-11-17T10:00:01.1234567Z \u001b[31mexpected 1\u001b[0m, got 2\u0007\u0000',
      '2026-11-17T10:00:01.1234567Z key a-secret-of-the-settings \u202e',
    ].join('\r\n');
    const [facts] = await pulls.read([pull]);
    const found = await pulls.remote?.explainCheck(facts?.checks?.[0] as never);
    expect(found?.step).toBe('Run npm test');
    expect(found?.output).toMatch(/line 1999\nexpected 1, got 2\nkey \[secret\] ⟦U\+202E⟧$/);
    expect(found?.output.length).toBeLessThanOrEqual(8_000);
    expect(github.gitRequests).toBeGreaterThan(0);
  });

  it('of another program is only named', async () => {
    const { pulls } = await proposed();
    const check = { id: 99, name: 'other', result: 'failed', isRequired: false, url: null } as const;
    expect(await pulls.remote?.explainCheck(check)).toBeNull();
    expect(await pulls.remote?.explainCheck({ ...check, id: null })).toBeNull();
  });
});

describe('a merge', () => {
  it('is refused by a rule of the repository, or without a required check, with the reason', async () => {
    const { pulls, github, pull, head } = await proposed();
    github.addCheck(head, 'test', null, true);
    const refusal = { outcome: 'refused', refusal: { code: 'checks_missing', names: ['test'] } };
    expect(await pulls.merge(pull, mergeOf(pull))).toEqual(refusal);
    github.checksOf(head).splice(0);
    github.rules.merge = 'At least 1 approving review is required by reviewers with write access.';
    const main = github.tip('main');
    expect(await pulls.merge(pull, mergeOf(pull))).toEqual({
      outcome: 'refused',
      refusal: { code: 'protected', reason: github.rules.merge },
    });
    expect(github.tip('main')).toBe(main);
  });

  // @conforms judge.2
  it('by Baton itself gets the checks and reviews of the last moment', async () => {
    const { pulls, github, pull, head } = await proposed();
    github.addCheck(head, 'test', 'SUCCESS', false);
    await pulls.read([pull]);
    github.checksOf(head).splice(0);
    github.addCheck(head, 'test', 'FAILURE', false);
    github.addReview(1, { author: 'ada', state: 'CHANGES_REQUESTED', body: 'No.' });
    const seen: unknown[] = [];
    const request = mergeOf(pull, {
      objection: async ({ checks, reviews }) => {
        seen.push(checks, reviews);
        return { code: 'not_automatic', objection: 'checks_not_green' };
      },
    });
    expect(await pulls.merge(pull, request)).toMatchObject({ outcome: 'refused' });
    expect(seen).toMatchObject([[{ result: 'failed' }], [{ author: 'ada', verdict: 'changes_requested' }]]);
  });

  it('whose answer was lost is found, and not made twice', async () => {
    const { pulls, github, pull } = await proposed();
    const route = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge';
    github.faults.push({ kind: 'lost', when: 'after', route });
    await expect(pulls.merge(pull, mergeOf(pull))).rejects.toMatchObject({ code: 'github_unreachable' });
    const merged = github.tip('main');
    expect(await pulls.merge(pull, mergeOf(pull))).toMatchObject({ outcome: 'merged', commit: merged });
    expect(github.tip('main')).toBe(merged);
  });

  it('refuses a head that a person pushed in the last moment', async () => {
    const { pulls, github, pull, push } = await proposed();
    const route = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge';
    let theirs = '';
    github.faults.push({ kind: 'race', route, meanwhile: () => (theirs = push(branch, { 'late.txt': 'x\n' })) });
    const result = await pulls.merge(pull, mergeOf(pull));
    expect(result).toEqual({ outcome: 'refused', refusal: { code: 'head_moved', headCommit: theirs } });
    expect(github.pulls[0]?.state).toBe('OPEN');
  });

  it('of one that was closed is refused', async () => {
    const { pulls, github, pull } = await proposed();
    github.close(1, 'ada');
    expect(await pulls.merge(pull, mergeOf(pull))).toEqual({ outcome: 'refused', refusal: { code: 'closed' } });
  });
});

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
