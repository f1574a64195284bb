import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BatonError } from '../../../src/core/baton-error.ts';
import { readGitDirectory } from '../../../src/workspace/git/read/read-git-directory.ts';
import { runs } from '../../property-runs.ts';
import { rejection, scratchFolder } from '../scratch-folder.ts';
import { shell } from './examine-scene.ts';

const one = 'git init -q repo; cd repo; echo one > file; git add file; git commit -qm one';
const two = `${one}; echo two > file; git commit -qam two`;

async function read(script: string, dotGit = 'repo/.git') {
  const folder = scratchFolder();
  shell(script, folder);
  const found = await readGitDirectory(path.join(folder, dotGit));
  if (found === null) throw new Error('there is no git directory');
  return { folder, found, ask: (question: string) => shell(question, path.join(folder, path.dirname(dotGit))).trim() };
}

function refuse(script: string, dotGit = 'repo/.git') {
  const folder = scratchFolder();
  shell(script, folder);
  return rejection(readGitDirectory(path.join(folder, dotGit)));
}

describe('a git directory that Baton reads itself', () => {
  // @conforms git.6
  it.each([
    ['with loose references', `${two}; git branch a/b; git tag v1; git tag -a -m x v2; git branch -m über/ä`],
    ['with packed references', `${two}; git branch a; git tag -a -m x v2; git pack-refs --all`],
    ['with packed ones that moved since', `${two}; git branch a; git pack-refs --all; git commit --allow-empty -qm 3`],
    ['with a packed one that was deleted', `${two}; git branch a; git pack-refs --all; git branch -D a`],
    ['that is detached', `${two}; git checkout -q --detach`],
    ['with symbolic references', `${two}; git symbolic-ref refs/heads/link refs/heads/main; git branch x`],
    ['that is a clone', `${two}; cd ..; git clone -q repo mine; rm -rf repo; mv mine repo`],
    ['with names of sha256', two.replace('init', 'init --object-format=sha256')],
    [
      'with a link in place of a branch by name only',
      `${two}; git symbolic-ref HEAD refs/heads/link; git branch link main`,
    ],
  ])('%s matches git', async (_what, script) => {
    const { found, ask } = await read(script);
    expect(found.head).toBe(ask('git rev-parse HEAD'));
    expect(found.headReference).toBe(ask('git symbolic-ref -q HEAD || :') || null);
    const references = ask(`git for-each-ref --format='%(objectname) %(refname)'`).split('\n');
    expect(
      found.tips
        .filter(({ name }) => name.startsWith('refs/'))
        .map(({ name, id }) => `${id} ${name}`)
        .sort(),
    ).toEqual(references.sort());
  });

  it('before the first commit has a branch and no head', async () => {
    const { found } = await read('git init -q repo');
    expect(found).toMatchObject({
      head: null,
      headReference: 'refs/heads/main',
      tips: [],
      past: [],
      objectFormat: 'sha1',
    });
  });

  it('is null when it does not exist', async () => {
    expect(await readGitDirectory(path.join(scratchFolder(), '.git'))).toBeNull();
  });

  it('has every entry of the stash', async () => {
    const { found, ask } = await read(`${one}; for n in 1 2 3; do echo $n > file; git stash -q; done`);
    const ids = ask('git stash list --format=%H').split('\n');
    expect(found.tips.filter(({ name }) => name.startsWith('stash@'))).toEqual(
      ids.map((id, index) => ({ name: `stash@{${index}}`, id })),
    );
    expect(ids).toHaveLength(3);
  });

  it('has the commits in the middle of a merge, a pick and a rebase', async () => {
    const fork = `${two}; git checkout -q -b other HEAD~1; echo three > file; git commit -qam three`;
    const merge = await read(`${fork}; git merge main || :`);
    expect(merge.found.tips).toContainEqual({ name: 'MERGE_HEAD', id: merge.ask('git rev-parse main') });
    const pick = await read(`${fork}; git cherry-pick main || :`);
    expect(pick.found.tips).toContainEqual({ name: 'CHERRY_PICK_HEAD', id: pick.ask('git rev-parse main') });
    const rebase = await read(`${fork}; echo x > new; git add new; echo y > new; git rebase -q --autostash main || :`);
    expect(rebase.found.headReference).toBeNull();
    const names = rebase.found.tips.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['rebase-merge/orig-head', 'rebase-merge/autostash', 'REBASE_HEAD']));
    const original = rebase.found.tips.find(({ name }) => name === 'rebase-merge/orig-head');
    expect(original?.id).toBe(rebase.ask('git rev-parse other'));
  });

  it('has commits that no reference names any more', async () => {
    const { found, ask } = await read(
      `${two}; git rev-parse HEAD > lost; git reset -q --hard HEAD~1; rm .git/ORIG_HEAD`,
    );
    const lost = ask('cat lost');
    expect(found.tips.map(({ id }) => id)).not.toContain(lost);
    expect(found.past).toEqual([ask('git rev-parse HEAD'), lost]);
  });

  it('of a linked worktree has its own HEAD and the shared references and objects', async () => {
    const { folder, found, ask } = await read(`${two}; git worktree add -q ../mine`, 'mine/.git');
    expect(found.folder).toBe(path.join(folder, 'repo/.git/worktrees/mine'));
    expect(found.common).toBe(path.join(folder, 'repo/.git'));
    expect(found.objects).toEqual([path.join(folder, 'repo/.git/objects')]);
    expect(found).toMatchObject({ headReference: 'refs/heads/mine', head: ask('git rev-parse HEAD') });
  });

  it('has the unnamed commits of its worktrees elsewhere', async () => {
    const { folder, found } = await read(
      `${two}; git worktree add -q --detach ../mine; cd ../mine; git commit -q --allow-empty -m lone`,
    );
    const id = shell('git rev-parse HEAD', path.join(folder, 'mine')).trim();
    expect(found.tips).toContainEqual({ name: 'worktrees/mine/HEAD', id });
  });

  it('of a submodule is found through the file that names it', async () => {
    const made = `${one}; cd ..; git init -q top; cd top; git submodule --quiet add ../repo sub`;
    const { folder, found, ask } = await read(made, 'top/sub/.git');
    expect(found.folder).toBe(path.join(folder, 'top/.git/modules/sub'));
    expect(found.head).toBe(ask('git rev-parse HEAD'));
  });

  it('borrows objects over several steps, including relative, quoted and missing ones', async () => {
    const { folder, found } = await read(`mkdir b c; git init -q "b/with
line"; git init -q c/c; ${one}; cd ..
      printf '# a remark\\n\\n../../../b\\n/nowhere\\n"%s/b/with\\\\nline/.git/objects"\\n' "$PWD" > repo/.git/objects/info/alternates
      printf '../../../../c/c/.git/objects\\n' > "b/with
line/.git/objects/info/alternates"`);
    expect(found.objects).toEqual([
      path.join(folder, 'repo/.git/objects'),
      path.join(folder, 'b'),
      path.join(folder, 'b/with\nline/.git/objects'),
      path.join(folder, 'c/c/.git/objects'),
    ]);
  });

  it('has the commits where its history is cut', async () => {
    const { found, ask } = await read(`${two}; cd ..; git clone -q --depth 1 file://$PWD/repo mine`, 'mine/.git');
    expect(found.shallow).toEqual([ask('git rev-parse HEAD')]);
  });

  it('keeps a reference whose name is not valid UTF-8', async () => {
    const { found } = await read(`${one}; git update-ref "$(printf 'refs/heads/a\\377')" HEAD`);
    expect(found.tips.map(({ name }) => name)).toContain('refs/heads/a%ff');
  });

  it('ignores locks and leftovers of editors among the references', async () => {
    const { found } = await read(`${one}; echo x > .git/refs/heads/main.lock; echo x > .git/refs/heads/.swp`);
    expect(found.tips.map(({ name }) => name)).toEqual(['refs/heads/main']);
  });
});

describe('a git directory that Baton does not understand', () => {
  const table = 'mkdir -p repo/.git/refs repo/.git/objects; cd repo; echo "ref: refs/heads/main" > .git/HEAD';
  // @conforms git.6
  it.each([
    ['a link called .git', `${one}; mv .git ../git; ln -s ../git .git`],
    ['a link that leads nowhere', 'mkdir repo; ln -s nowhere repo/.git'],
    ['a pipe called .git', 'mkdir repo; mkfifo repo/.git'],
    ['an empty .git', 'mkdir -p repo/.git'],
    ['a file .git with rubbish', 'mkdir repo; head -c 3000 /dev/urandom > repo/.git'],
    ['a file .git that leads nowhere', 'mkdir repo; echo "gitdir: ../nowhere" > repo/.git'],
    ['a file .git that leads to itself', 'mkdir repo; echo "gitdir: .git" > repo/.git'],
    ['a file .git that leads to a link', `${one}; mv .git ../git; ln -s git ../l; echo "gitdir: ../l" > .git`],
    ['a file .git that leads to devices', 'mkdir repo; echo "gitdir: /dev" > repo/.git'],
    ['a file .git with many line ends', 'mkdir repo; (printf "gitdir: "; yes "" | head -60000; echo x) > repo/.git'],
    ['no HEAD', `${one}; rm .git/HEAD`],
    ['a pipe as HEAD', `${one}; rm .git/HEAD; mkfifo .git/HEAD`],
    ['a link as HEAD', `${one}; mv .git/HEAD x; ln -s ../x .git/HEAD`],
    ['a device as HEAD', `${one}; rm .git/HEAD; ln -s /dev/zero .git/HEAD`],
    ['rubbish as HEAD', `${one}; head -c 100 /dev/urandom > .git/HEAD`],
    ['a HEAD that leads out', `${one}; echo "ref: refs/../../../x" > .git/HEAD`],
    ['a HEAD outside of the references', `${one}; echo "ref: config" > .git/HEAD`],
    ['a pipe as packed references', `${one}; mkfifo .git/packed-refs`],
    ['a link as packed references', `${one}; ln -s /etc/passwd .git/packed-refs`],
    ['broken packed references', `${one}; echo rubbish > .git/packed-refs`],
    ['a pipe as a reference', `${one}; mkfifo .git/refs/heads/x`],
    ['a link as a reference', `${one}; ln -s main .git/refs/heads/x`],
    ['an empty reference', `${one}; : > .git/refs/heads/x`],
    ['a reference that leads out', `${one}; echo "ref: refs/heads/../../x" > .git/refs/heads/x`],
    [
      'references that lead in a circle',
      `${one}; cd .git/refs/heads; echo ref: refs/heads/b > a; echo ref: refs/heads/a > b`,
    ],
    ['a link as the references', `${one}; mv .git/refs r; ln -s ../r .git/refs`],
    ['a link as the objects', `${one}; mv .git/objects o; ln -s ../o .git/objects`],
    ['no objects', `${one}; rm -rf .git/objects`],
    ['a pipe in place of what it borrows', `${one}; mkfifo .git/objects/info/alternates`],
    ['a link in place of what it borrows', `${one}; ln -s /etc/passwd .git/objects/info/alternates`],
    ['a link on the path to its alternates', `${one}; rmdir .git/objects/info; ln -s /etc .git/objects/info`],
    [
      'too many to borrow from',
      `${one}; for n in $(seq 100); do mkdir $n; echo "$PWD/$n"; done > .git/objects/info/alternates`,
    ],
    [
      'a long way to borrow',
      `${one}; for n in $(seq 9); do mkdir -p $n/info; echo "../$((n+1))" > $n/info/alternates; done
       echo ../../1 > .git/objects/info/alternates`,
    ],
    ['a pipe as a log', `${one}; rm -f .git/logs/refs/stash; mkfifo .git/logs/refs/stash`],
    ['a broken log of the stash', `${one}; echo rubbish > .git/logs/refs/stash`],
    ['a link on the way to the log', `${one}; mv .git/logs l; ln -s ../l .git/logs`],
    ['a link in place of a rebase', `${one}; ln -s .. .git/rebase-merge`],
    ['a broken merge', `${one}; echo rubbish > .git/MERGE_HEAD`],
    ['a pipe as its common directory', `${one}; mkfifo .git/commondir`],
    ['a missing common directory', `${one}; echo nowhere > .git/commondir`],
    ['a pipe as its configuration', `${one}; rm .git/config; mkfifo .git/config`],
    ['references in tables', `${table}; printf '[core]\\n[Extensions] refStorage = "reftable"\\n' > .git/config`],
    ['objects of an unknown format', `${table}; printf '[extensions]\\nobjectformat = md5 # x\\n' > .git/config`],
    ['ids of the other object format', `${one}; printf '[extensions]\\n\\tobjectformat = sha256\\n' >> .git/config`],
    ['a path that is not text', `${one}; mv .git "../$(printf 'g\\377')"; printf 'gitdir: ../g\\377\\n' > .git`],
  ])('is refused with %s', async (_what, script) => {
    expect(await refuse(script)).toMatchObject({ code: 'workspace_unavailable' });
  });

  it.each(['HEAD', 'packed-refs', 'refs/heads/main', 'config', 'ORIG_HEAD', 'logs/HEAD', 'shallow', 'commondir'])(
    'is refused at once with a terabyte of %s',
    async (name) => {
      const folder = scratchFolder();
      shell(one, folder);
      const file = path.join(folder, 'repo/.git', name);
      writeFileSync(file, '');
      truncateSync(file, 2 ** 40);
      expect(await rejection(readGitDirectory(path.join(folder, 'repo/.git')))).toMatchObject({
        code: 'workspace_unavailable',
      });
    },
  );

  it('reads an object format only where git would', async () => {
    const folder = scratchFolder();
    shell(one, folder);
    const config = path.join(folder, 'repo/.git/config');
    const before = readFileSync(config, 'utf8');
    for (const more of [
      '[extensions "x"]\n\tobjectformat = sha256\n',
      '# [extensions]\n[other]\n\tobjectformat = sha256\n',
      '[extensions]\n# objectformat = sha256\n\tobjectformat = sha256\n\tobjectFormat = SHA1 ; the last one counts\n',
    ]) {
      writeFileSync(config, before + more);
      expect((await readGitDirectory(path.join(folder, 'repo/.git')))?.objectFormat).toBe('sha1');
    }
  });

  it('is either read or refused, whatever its files contain', async () => {
    const folder = scratchFolder();
    shell(`${two}; git branch x; git pack-refs --all; echo 3 > file; git stash -q`, folder);
    const git = path.join(folder, 'repo/.git');
    mkdirSync(path.join(git, 'rebase-merge'));
    const names = ['HEAD', 'packed-refs', 'refs/heads/main', 'config', 'commondir', 'objects/info/alternates'];
    const more = ['logs/refs/stash', 'logs/HEAD', 'MERGE_HEAD', 'rebase-merge/orig-head', 'shallow'];
    const id = shell('git rev-parse HEAD', path.join(folder, 'repo')).trim();
    const word = fc.constantFrom(
      'ref: ',
      'refs/heads/',
      'main',
      '..',
      '/',
      id,
      id.slice(1),
      '\n',
      '\0',
      ' ',
      '[',
      ']',
      '"',
    );
    const content = fc.oneof(
      fc.array(fc.oneof(word, fc.string({ maxLength: 3 })), { maxLength: 12 }).map((parts) => parts.join('')),
      fc.constant('\\\n'.repeat(5000)),
      fc.constant(`[${' '.repeat(50_000)}`),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names, ...more), content, async (name, text) => {
        const file = path.join(git, name);
        let before: Buffer | null = null;
        try {
          before = readFileSync(file);
        } catch {}
        writeFileSync(file, text);
        try {
          await readGitDirectory(git);
        } catch (error) {
          expect(error).toBeInstanceOf(BatonError);
        }
        if (before === null) shell(`rm -f '${file}'`, folder);
        else writeFileSync(file, before);
      }),
      { numRuns: runs(300) },
    );
    expect(await readGitDirectory(git)).not.toBeNull();
  });

  it('is refused with a link on the path although the target is valid', async () => {
    const folder = scratchFolder();
    shell(one, folder);
    symlinkSync('repo', path.join(folder, 'link'));
    // Links on the way to a workspace are allowed; links inside are not.
    expect((await readGitDirectory(path.join(folder, 'link/.git')))?.head).toMatch(/^[0-9a-f]{40}$/);
    shell('mv .git/refs/heads ../heads; ln -s ../../../heads .git/refs/heads', path.join(folder, 'repo'));
    expect(await rejection(readGitDirectory(path.join(folder, 'repo/.git')))).toMatchObject({
      code: 'workspace_unavailable',
    });
  });
});
