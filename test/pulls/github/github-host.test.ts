import { afterEach, describe, expect, it } from 'vitest';
import { git } from '../../workspace/git/scratch-repository.ts';
import { branch, pullOf } from '../pull-scene.ts';
import { change, type GithubScene, githubScene, proposedOnGithub, stopGithubs } from './github-scene.ts';

let scene: GithubScene;

afterEach(async () => {
  expect(scene.github.complaints).toEqual([]);
  await stopGithubs();
});

async function proposed(review: Parameters<typeof githubScene>[0] = {}) {
  const made = await proposedOnGithub(review);
  scene = made;
  return made;
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
