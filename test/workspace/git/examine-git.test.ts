import { appendFileSync, existsSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { examineWorkspace } from '../../../src/workspace/examine/examine-workspace.ts';
import { isInBase } from '../../../src/workspace/git/checkout/publish-branch.ts';
import { lookScene, oneCommit, scratchGit } from './examine-scene.ts';

/** The facts after a script, and whether the fingerprint changed. */
async function factsAfter(script: string, made: string = oneCommit) {
  const scene = lookScene(made);
  const before = await scene.look();
  scene.agent(script);
  const facts = await scene.look();
  if (before === null || facts === null) throw new Error('it could not be seen');
  return { ...facts.git, isAnother: facts.fingerprint !== before.fingerprint, isGit: facts.git !== null, scene };
}

describe('the facts of a workspace with git', () => {
  it('contain head and branch, and no differences', async () => {
    const scene = lookScene();
    const head = scene.agent('git rev-parse HEAD').trim();
    expect(await scene.look()).toEqual({
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
      git: { head, branch: 'main', ahead: null, changed: 0, untracked: 0, conflicts: 0 },
    });
  });

  it.each([
    ['a changed file', 'echo more >> file', { changed: 1, untracked: 0 }],
    ['a new file', 'echo new > dir/new', { changed: 0, untracked: 1 }],
    ['three new files in a new folder', 'mkdir n; touch n/1 n/2 n/3', { changed: 0, untracked: 3 }],
    ['a file that is gone', 'rm file', { changed: 1, untracked: 0 }],
    ['a file that was renamed', 'git mv file renamed', { changed: 1, untracked: 1 }],
    ['a change that is staged', 'echo more >> file; git add -A', { changed: 1, untracked: 0 }],
    ['a file that may be executed', 'chmod +x file', { changed: 1, untracked: 0 }],
    ['a file that became a link', 'rm file; ln -s dir/other file', { changed: 1, untracked: 0 }],
    ['a file that became a folder', 'rm file; mkdir file; touch file/x', { changed: 1, untracked: 1 }],
    ['a folder that became a link to the same', 'mv dir ../dir; ln -s ../dir dir', { changed: 1, untracked: 1 }],
    ['an ignored file that was added', 'echo x > ignored; git add -f ignored', { changed: 0, untracked: 1 }],
    ['a change that assume-unchanged hides', 'git update-index --assume-unchanged file; echo x > file', { changed: 1 }],
    ['a change that skip-worktree hides', 'git update-index --skip-worktree file; echo x > file', { changed: 1 }],
    ['names of every kind', `touch -- -x 'a"b' 'a\\b' "$(printf 'a\\nb')" "$(printf 'a\\377')" ' '`, { untracked: 6 }],
    ['a repository within', 'git init -q nested; touch nested/x', { changed: 0, untracked: 1 }],
    ['another line end where attributes hide it', `printf 'one\\r\\n' > file`, { changed: 1 }, '* text=auto eol=lf'],
    ['another $Id$', `printf '$Id: x $\\n' > file`, { changed: 1 }, '* ident'],
  ])('include %s', async (_what, script, expected, attributes = '') => {
    const made = `${oneCommit}; echo '${attributes}' > .gitattributes; git add -A; git commit -qm attributes`;
    expect(await factsAfter(script, made)).toMatchObject({ ...expected, isAnother: true });
  });

  // @conforms git.13
  it.each([
    ['a file with the same content written again', 'sleep 0.01; cp file x; cat x > file; rm x'],
    ['a file that was only touched', 'touch -d 2020-01-01 file dir/other'],
    ['ignored files', 'echo x > ignored; mkdir -p build; echo x > build/x.log'],
    ['a look at its state', 'git status; git diff; git log; git show; git branch'],
    ['objects that nothing refers to', 'echo x | git hash-object -w --stdin'],
    ['packed references and objects', 'git pack-refs --all; git gc -q'],
    ['a reset to where it is', 'git reset -q --hard'],
    ['configuration and hooks', 'git config a.b c; echo : > .git/hooks/post-commit'],
    ['an empty folder', 'mkdir empty'],
  ])('are the same after %s', async (_what, script) => {
    expect(await factsAfter(script)).toMatchObject({ isAnother: false, isGit: true });
  });

  // @conforms git.14
  it.each([
    ['a commit', 'echo two > file; git commit -qam two', { changed: 0 }],
    ['a commit that changes no file', 'git commit -q --allow-empty -m two', {}],
    ['a branch', 'git branch other', { branch: 'main' }],
    ['another branch checked out', 'git checkout -q -b other', { branch: 'other' }],
    ['a commit on another branch', 'git checkout -q -b o; git commit -q --allow-empty -m 2; git checkout -q main', {}],
    ['a detached head', 'git checkout -q --detach', { branch: null }],
    ['a stash', 'echo two > file; git stash -q', { changed: 0 }],
    ['a stash under a stash', 'for n in 1 2; do echo $n > file; git stash -q; done; git stash drop -q "stash@{1}"', {}],
    ['a tag', 'git tag v1', {}],
    [
      'a branch before its first commit',
      'git checkout -q --orphan fresh',
      { head: null, branch: 'fresh', untracked: 3 },
    ],
    ['no file of its commit', 'git rm -qr .', { changed: 3 }],
  ])('differ after %s', async (_what, script, expected) => {
    expect(await factsAfter(script)).toMatchObject({ ...expected, isAnother: true, isGit: true });
  });

  it('depend on the content of changed files, not only on the fact that they changed', async () => {
    const scene = lookScene(`${oneCommit}; echo aaa > file; echo aaa > new`);
    const prints = new Set([(await scene.look())?.fingerprint]);
    for (const script of [
      'echo bbb > file',
      'echo bbb > new',
      'chmod +x new',
      'rm new; ln -s file new',
      'ln -sf dir new',
    ]) {
      const { mtime } = statSync(path.join(scene.workspace, 'file'));
      scene.agent(script);
      utimesSync(path.join(scene.workspace, 'file'), mtime, mtime);
      prints.add((await scene.look())?.fingerprint);
    }
    expect(prints.size).toBe(6);
  });

  it('count conflicts by files, in every version of an index', async () => {
    const fork = (version: number) => `${oneCommit}; git update-index --index-version ${version}
      mkdir long; for n in $(seq 40); do echo $n > long/name-of-a-file-$n; done; git add -A; git commit -qm files
      git checkout -q -b other; echo a > file; echo a > dir/other; git rm -q long/name-of-a-file-7; git commit -qam a
      git checkout -q main; echo b > file; echo b > dir/other; echo b > long/name-of-a-file-7; git commit -qam b`;
    for (const version of [2, 3, 4]) {
      const scene = lookScene(fork(version));
      expect((await scene.look())?.git).toMatchObject({ conflicts: 0 });
      scene.agent('git update-index --skip-worktree .gitignore; git merge other || :');
      expect((await scene.look())?.git).toMatchObject({ conflicts: 3 });
      const before = await scene.look();
      scene.agent('git add file');
      const facts = await scene.look();
      expect(facts?.git).toMatchObject({ conflicts: 2 });
      expect(facts?.fingerprint).not.toBe(before?.fingerprint);
    }
  });

  it.each(['rebase', 'merge'])('count no commits of a base that the agent fetched, after a %s', async (how) => {
    const origin = 'git init -q ../o; cd ../o; echo 1 > a; git add a; git commit -q -m 1; cd -';
    const scene = lookScene(`${origin}; git clone -q file://$PWD/../o .`);
    const baseCommit = scene.agent('git rev-parse HEAD').trim();
    const checkout = { ...(await scene.asCheckout()), base: 'main', baseCommit };
    scene.agent('echo mine > b; git add b; git commit -q -m mine');
    scene.agent('cd ../o; for n in 2 3; do git commit -q --allow-empty -m $n; done; cd -; git fetch -q');
    const isBase = isInBase(scratchGit());
    const ofOrigin = { ...checkout, repository: path.join(scene.folder, 'o') };
    expect((await scene.look(ofOrigin, { isInBase: isBase }))?.git).toMatchObject({ ahead: 1 });
    scene.agent(`git ${how} origin/main${how === 'merge' ? ' -m merge' : ''}`);
    const facts = await scene.look(ofOrigin, { isInBase: isBase, commits: 20 });
    expect(facts?.git).toMatchObject({
      ahead: how === 'merge' ? 2 : 1,
      base: scene.agent('git rev-parse origin/main').trim(),
    });
    expect(facts?.commits?.map(({ subject }) => subject)).toEqual(how === 'merge' ? ['merge', 'mine'] : ['mine']);
    // An agent cannot hide its commits by calling them the base.
    scene.agent('git update-ref refs/remotes/origin/main HEAD');
    expect((await scene.look(ofOrigin, { isInBase: isBase }))?.git).toMatchObject({ ahead: how === 'merge' ? 4 : 3 });
  });

  it('count the commits ahead of the checkout, or of the branch it was cloned from', async () => {
    const scene = lookScene(`${oneCommit}; for n in 1 2 3; do git commit -q --allow-empty -m $n; done`);
    const commit = (name: string) => scene.agent(`git rev-parse ${name}`).trim();
    const checkout = { ...(await scene.asCheckout()), baseCommit: commit('HEAD~2') };
    expect((await scene.look())?.git?.ahead).toBeNull();
    expect((await scene.look(checkout))?.git?.ahead).toBe(2);
    expect((await scene.look({ ...checkout, baseCommit: commit('HEAD') }))?.git?.ahead).toBe(0);
    expect((await scene.look({ ...checkout, baseCommit: 'f'.repeat(40) }))?.git?.ahead).toBeNull();
    const origin = `git init -q ../o; cd ../o; git commit -q --allow-empty -m 1; git commit -q --allow-empty -m 2; cd -`;
    for (const depth of ['', '--depth 1']) {
      const cloned = lookScene(
        `${origin}; git clone -q ${depth} file://$PWD/../o .; git commit -q --allow-empty -m mine`,
      );
      expect((await cloned.look())?.git?.ahead).toBe(1);
    }
  });

  it('do not count files left out by a sparse checkout as deleted', async () => {
    const made = `${oneCommit}; mkdir a b; touch a/1 a/2 b/1; git add -A; git commit -qm files`;
    for (const index of ['--no-sparse-index', '--sparse-index']) {
      const { scene, ...facts } = await factsAfter(`git sparse-checkout set --cone ${index} a`, made);
      expect(existsSync(path.join(scene.workspace, 'dir'))).toBe(false);
      expect(facts).toMatchObject({ isGit: true, changed: 0, isAnother: false });
      scene.agent('mkdir dir; echo x > dir/other');
      expect((await scene.look())?.git?.changed).toBe(1);
    }
  });

  it('include submodules and nested repositories', async () => {
    const sub = 'git init -q ../s; cd ../s; git commit -q --allow-empty -m s; cd -';
    const made = `${oneCommit}; ${sub}; git submodule --quiet add ../s sub; git commit -qm sub; git init -q nested; touch nested/x`;
    const same = await factsAfter('cd sub; git status; cd ../nested; git status', made);
    expect(same).toMatchObject({ isAnother: false, isGit: true, changed: 0, untracked: 1 });
    expect(await factsAfter('cd sub; git commit -q --allow-empty -m 2', made)).toMatchObject({
      changed: 1,
      isAnother: true,
    });
    for (const script of ['touch sub/new', 'touch nested/new', 'rm -r sub', 'cd nested; git add x; git commit -qm x'])
      expect(await factsAfter(script, made)).toMatchObject({ isAnother: true, isGit: true });
  });

  it('of a linked worktree do not depend on other worktrees', async () => {
    const made = `git init -q ../main; cd ../main; git commit -q --allow-empty -m 1; git worktree add -q ../workspace -b mine
      git worktree add -q ../theirs`;
    const commit = 'git commit -q --allow-empty -m 2';
    expect(await factsAfter(`cd ../theirs; ${commit}; git branch x`, made)).toMatchObject({
      isAnother: false,
      isGit: true,
    });
    expect(await factsAfter(commit, made)).toMatchObject({ isAnother: true, branch: 'mine' });
  });

  it('work for sha256 repositories', async () => {
    const made = oneCommit.replace('init', 'init --object-format=sha256');
    expect(await factsAfter('echo more >> file; touch new', made)).toMatchObject({
      changed: 1,
      untracked: 1,
      isAnother: true,
    });
  });

  it('of a broken git directory are those of its files', async () => {
    for (const broken of [
      'rm .git/HEAD',
      'rm -rf .git/objects/*',
      'echo x > .git/index',
      'rm .git/index; mkfifo .git/index',
    ]) {
      const scene = lookScene(`${oneCommit}; ${broken}`);
      const before = await scene.look();
      expect(before).toMatchObject({ git: null, fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) });
      scene.agent('touch new');
      expect((await scene.look())?.fingerprint).not.toBe(before?.fingerprint);
    }
  });

  it('are those of the files without git, and null without a directory', async () => {
    const scene = lookScene('touch file');
    expect(await scene.look()).toMatchObject({ git: null });
    const { places } = scene;
    const nowhere = path.join(scene.folder, 'nowhere');
    expect(await examineWorkspace(nowhere, { git: scratchGit(), places, checkout: null })).toBeNull();
  });

  it('are null above the limit of differences', async () => {
    const scene = lookScene(`${oneCommit}; mkdir many; cd many; seq 20001 | xargs touch`);
    expect(await scene.look()).toBeNull();
  });

  it('identify large files by size and time', async () => {
    const { scene } = await factsAfter(`head -c 17000000 /dev/zero > huge`);
    const before = await scene.look();
    appendFileSync(path.join(scene.workspace, 'huge'), 'x');
    expect((await scene.look())?.fingerprint).not.toBe(before?.fingerprint);
  });
});

describe('an examination of a checkout of Baton', () => {
  it('costs one call of git while nothing is committed, and leaves out copied files', async () => {
    const scene = lookScene();
    const checkout = await scene.asCheckout();
    utimesSync(path.join(checkout.shadow, 'index'), 1, 1);
    await scene.look(checkout);
    scene.calls.length = 0;
    writeFileSync(path.join(scene.workspace, 'brought'), '');
    scene.agent('echo more >> file');
    expect((await scene.look(checkout))?.git).toMatchObject({ ahead: 0, changed: 1, untracked: 0 });
    expect(scene.calls.map(({ args }) => args[0])).toEqual(['status']);
  });

  it('keeps one index for the next examination, the one of the present HEAD', async () => {
    const scene = lookScene();
    const checkout = await scene.asCheckout();
    utimesSync(path.join(checkout.shadow, 'index'), 1, 1);
    for (const script of [':', 'echo 2 > file; git commit -qam 2', 'touch new; git add new; git commit -qam 3']) {
      scene.agent(script);
      expect((await scene.look(checkout))?.git).toMatchObject({ changed: 0, untracked: 0 });
      expect(readdirSync(path.join(checkout.shadow, 'looked'))).toEqual([scene.agent('git rev-parse HEAD').trim()]);
    }
    expect((await scene.look(checkout))?.git).toMatchObject({ ahead: 2 });
  });

  // @conforms git.15
  it('sees a change of the same length in the second of the checkout', async () => {
    // Some of several attempts fall into one second.
    const tries = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const scene = lookScene();
        const checkout = await scene.asCheckout();
        scene.agent('echo ONE > file');
        return { scene, checkout };
      }),
    );
    tries[0]?.scene.agent('sleep 1.1');
    for (const { scene, checkout } of tries) {
      expect((await scene.look(checkout))?.git).toMatchObject({ changed: 1 });
      expect((await scene.look(checkout))?.git).toMatchObject({ changed: 1 });
    }
  });

  it('returns the same as one without a shadow, also when the index of the shadow is lost or broken', async () => {
    const scene = lookScene();
    const checkout = await scene.asCheckout();
    scene.agent('echo 2 > file; git commit -qam 2; echo 3 > file; touch new');
    const plain = await scene.look();
    for (const spoil of [() => {}, () => writeFileSync(path.join(checkout.shadow, 'index'), 'rubbish')]) {
      spoil();
      const facts = await scene.look(checkout);
      expect(facts?.fingerprint).toBe(plain?.fingerprint);
      expect(facts?.git).toEqual({ ...plain?.git, ahead: 1 });
    }
  });

  it('works ten at a time', async () => {
    const scene = lookScene();
    const checkout = await scene.asCheckout();
    utimesSync(path.join(checkout.shadow, 'index'), 1, 1);
    const look = () => examineWorkspace(scene.workspace, { git: scratchGit(), places: scene.places, checkout });
    for (const script of [':', 'echo 2 > file; git commit -qam 2']) {
      scene.agent(script);
      const all = await Promise.all(Array.from({ length: 10 }, look));
      expect(new Set(all.map((facts) => JSON.stringify(facts))).size).toBe(1);
      expect(all[0]?.git).toMatchObject({ changed: 0, untracked: 0 });
    }
  });

  // @conforms git.16
  it('writes nothing into the workspace', async () => {
    const scene = lookScene(`${oneCommit}; echo more >> file; touch new`);
    const checkout = await scene.asCheckout();
    const all = () => scene.agent('find . -printf "%p %s %T@ %C@ %m\\n" | sort; sha256sum .git/index');
    const before = all();
    await scene.look(checkout);
    await scene.look();
    expect(all()).toBe(before);
  });
});
