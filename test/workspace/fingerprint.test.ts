import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fingerprintTree } from '../../src/workspace/examine/fingerprint-tree.ts';
import { runs } from '../property-runs.ts';
import { scratchFolder } from './scratch-folder.ts';

const git = 'git -c user.name=T -c user.email=t@example.com -c init.defaultBranch=main -c protocol.file.allow=always';

function shell(script: string, cwd: string): void {
  execFileSync('sh', ['-ec', `git() { command ${git} "$@"; }\n${script}`], { cwd, stdio: 'pipe' });
}

/** A tree, and whether a script changes its fingerprint. */
async function changes(made: string, script: string, below = '.'): Promise<boolean | null> {
  const folder = scratchFolder();
  shell(made, folder);
  const look = () => fingerprintTree(path.join(folder, below));
  const before = await look();
  shell(script, folder);
  const after = await look();
  return before === null || after === null ? null : before !== after;
}

describe('the fingerprint of a workspace', () => {
  const tree = 'mkdir -p a/b empty; echo three > a/b/file; echo two > a/other; ln -s a link; mkfifo pipe';

  it.each([
    ['a new file', 'touch a/new'],
    ['a file in a hidden folder', 'mkdir .cache; touch .cache/x'],
    ['a longer file', 'echo more >> a/other'],
    ['another text of the same length', 'sleep 0.02; echo TWO > a/other'],
    ['a file with another time', 'touch -d 2020-01-01 a/other'],
    ['a file that is gone', 'rm a/other'],
    ['a file with another name', 'mv a/other a/renamed'],
    ['a file in another place', 'mv a/other other'],
    ['two files that changed places', 'mv a/other x; mv a/b/file a/other; mv x a/b/file'],
    ['a file that may be executed', 'chmod +x a/other'],
    ['a link to elsewhere', 'rm link; ln -s b link'],
    ['a link that became what it led to', 'rm link; cp -r a link'],
    ['a new empty folder', 'mkdir a/new'],
    ['a folder that is gone', 'rmdir empty'],
    ['a folder that became a file', 'rmdir empty; touch empty'],
    ['a pipe that became a file', 'rm pipe; touch pipe'],
  ])('differs after %s', async (_what, script) => {
    expect(await changes(tree, script)).toBe(true);
  });

  it.each([
    ['nothing at all', ':'],
    ['files that were read', 'cat a/other a/b/file > /dev/null; ls -R > /dev/null'],
    ['what was made and is gone again', 'touch a/new; mkdir -p x/y; rm -r a/new x'],
    ['a change behind a link', 'mkdir "$PWD-behind"; rmdir "$PWD-behind"'],
  ])('is the same after %s', async (_what, script) => {
    expect(await changes(tree, script)).toBe(false);
  });

  it('is the same after a change behind a link that leads out', async () => {
    const made = 'mkdir in out; ln -s ../out in/link; touch out/file';
    expect(await changes(made, 'touch out/new; rm out/file', 'in')).toBe(false);
  });

  it('does not depend on the path of the tree', async () => {
    const folder = scratchFolder();
    shell(`mkdir one; cd one; ${tree}; cd ..; cp -a one other`, folder);
    expect(await fingerprintTree(path.join(folder, 'other'))).toBe(await fingerprintTree(path.join(folder, 'one')));
  });

  it('is the same for two trees exactly when they have the same content, whatever the names', async () => {
    const name = fc
      .string({
        unit: fc.constantFrom('a', 'b', '\n', '"', ',', '\\', ' ', 'é', '\u0001', '-'),
        minLength: 1,
        maxLength: 3,
      })
      .filter((text) => text !== '.' && text !== '..');
    const file = fc.constantFrom('', 'x', 'xx');
    const trees = fc.dictionary(name, fc.oneof(file, fc.dictionary(name, file, { maxKeys: 2 })), { maxKeys: 3 });
    const print = async (tree: Record<string, string | Record<string, string>>) => {
      const folder = scratchFolder();
      const write = (at: string, entries: Record<string, string | Record<string, string>>): void => {
        for (const [each, content] of Object.entries(entries)) {
          const to = path.join(at, each);
          if (typeof content === 'string') {
            writeFileSync(to, content);
            utimesSync(to, 1, 1);
          } else {
            mkdirSync(to);
            write(to, content);
          }
        }
      };
      write(folder, tree);
      const printed = await fingerprintTree(folder);
      rmSync(folder, { recursive: true });
      return printed;
    };
    const sorted = (tree: object): string =>
      JSON.stringify(
        Object.entries(tree)
          .map(([key, value]) => [key, typeof value === 'string' ? value : sorted(value)])
          .sort(),
      );
    await fc.assert(
      fc.asyncProperty(trees, trees, async (one, other) => {
        const [first, second] = [await print(one), await print(other)];
        expect(first).not.toBeNull();
        expect(first === second).toBe(sorted(one) === sorted(other));
        expect(await print(one)).toBe(first);
      }),
      { numRuns: runs(100) },
    );
  });
});

// @conforms limits.26
describe('the fingerprint of a workspace with git', () => {
  const repository = 'git init -q repo; cd repo; echo one > file; git add file; git commit -qm one';

  it.each([
    ['a commit that changes no file', 'git commit -q --allow-empty -m two'],
    ['a commit of what was there already', 'git commit -q --amend -m again'],
    ['a branch', 'git branch other'],
    ['another branch checked out', 'git checkout -q -b other'],
    ['a tag', 'git tag v1'],
    ['packed references and a commit', 'git pack-refs --all; git commit -q --allow-empty -m two'],
  ])('differs after %s', async (_what, script) => {
    expect(await changes(repository, `cd repo; ${script}`)).toBe(true);
  });

  it.each([
    ['a look at its state', 'git status; git diff; git log; git show; git branch'],
    // The second examination writes the index again, because its time for the file is no longer right.
    ['a refreshed index', 'git update-index --really-refresh; git add file; touch .git/index; git status'],
    ['objects that nothing refers to', 'echo x | git hash-object -w --stdin; git gc -q --prune=now --no-detach || :'],
    ['a lock and a note of git', 'touch .git/index.lock .git/COMMIT_EDITMSG; rm .git/index.lock'],
  ])('is the same after %s', async (what, script) => {
    const packed = what.startsWith('objects') ? '; git pack-refs --all; git gc -q' : '';
    expect(await changes(`${repository}${packed}`, `cd repo; ${script}`)).toBe(false);
  });

  it('differs after a commit in its worktree, and is the same after one in another worktree', async () => {
    const made = `${repository}; git worktree add -q ../mine; git worktree add -q ../theirs`;
    const commit = 'git commit -q --allow-empty -m two';
    expect(await changes(made, `cd mine; ${commit}`, 'mine')).toBe(true);
    expect(await changes(made, `cd theirs; ${commit}`, 'mine')).toBe(false);
    expect(await changes(made, 'cd mine; git status; git log', 'mine')).toBe(false);
    const packed = `${made}; git pack-refs --all`;
    expect(await changes(packed, `cd mine; ${commit}`, 'mine')).toBe(true);
    expect(await changes(packed, `cd theirs; ${commit}; git pack-refs --all`, 'mine')).toBe(false);
    expect(await changes(`${made}; cd ../mine; git checkout -q --detach`, `cd mine; ${commit}`, 'mine')).toBe(true);
  });

  it('differs after a commit in a submodule', async () => {
    const made = `${repository}; cd ..; git init -q top; cd top; git submodule --quiet add ../repo sub`;
    expect(await changes(made, 'cd top/sub; git commit -q --allow-empty -m two', 'top')).toBe(true);
  });
});

describe('a hostile tree', () => {
  it.each([
    ['a pipe called .git', 'mkfifo .git'],
    ['pipes where git has files', 'mkdir -p .git/refs; mkfifo .git/HEAD .git/packed-refs .git/refs/heads'],
    [
      'links where git has files',
      'mkdir .git; ln -s /dev/zero .git/HEAD; ln -s / .git/refs; ln -s /dev/tty .git/packed-refs',
    ],
    ['a link called .git', 'ln -s / .git'],
    ['links that lead in a circle', 'ln -s . here; ln -s two one; ln -s one two; mkdir .git; ln -s refs .git/refs'],
    ['a .git that leads to devices', 'echo "gitdir: /dev" > .git'],
    ['a .git that leads to a pipe', 'mkdir x; mkfifo x/HEAD; echo "gitdir: x" > .git'],
    ['a .git that leads to itself', 'echo "gitdir: .git" > .git'],
    ['a .git that leads nowhere', 'head -c 4000 /dev/urandom > .git'],
    ['a .git that leads too far', 'printf "gitdir: %03900d" 1 > .git'],
    ['a HEAD that leads out', 'mkdir x; echo "ref: refs/../../../etc/passwd" > x/HEAD; echo "gitdir: x" > .git'],
    ['a HEAD with a NUL', 'mkdir x; printf "ref: refs/a\\0b" > x/HEAD; echo "gitdir: x" > .git'],
    [
      'names that are not valid UTF-8',
      'touch "$(printf "a\\377")" "$(printf "a\\376")"; mkdir "$(printf "d\\377\\n")"',
    ],
    [
      'a socket of a program',
      'perl -MIO::Socket::UNIX -e "IO::Socket::UNIX->new(Local => q(s), Listen => 1)" || mkfifo s',
    ],
  ])('with %s has a fingerprint, fast and twice the same', async (_what, script) => {
    const folder = scratchFolder();
    shell(script, folder);
    const first = await fingerprintTree(folder);
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(await fingerprintTree(folder)).toBe(first);
    writeFileSync(path.join(folder, 'new'), '');
    expect(await fingerprintTree(folder)).not.toBe(first);
  });

  it('cannot make a file outside of it count by a HEAD that leads there', async () => {
    const made = `mkdir -p in/x/refs out; echo one > out/file; echo "gitdir: x" > in/.git
      echo "ref: refs/../../../out/file" > in/x/HEAD; test -e in/x/refs/../../../out/file`;
    expect(await changes(made, 'echo two > out/file', 'in')).toBe(false);
  });

  it('with files of a terabyte is not read', async () => {
    const folder = scratchFolder();
    mkdirSync(path.join(folder, '.git', 'refs'), { recursive: true });
    for (const name of ['huge', '.git/HEAD', '.git/packed-refs', '.git/refs/huge']) {
      writeFileSync(path.join(folder, name), '');
      truncateSync(path.join(folder, name), 2 ** 40);
    }
    const first = await fingerprintTree(folder);
    truncateSync(path.join(folder, '.git/packed-refs'), 2 ** 40 + 1);
    expect(await fingerprintTree(folder)).not.toBe(first);
  });

  it('has no fingerprint when it is missing, not a directory, or a link to one', async () => {
    const folder = scratchFolder();
    writeFileSync(path.join(folder, 'file'), '');
    symlinkSync('.', path.join(folder, 'link'));
    for (const name of ['nowhere', 'file', 'link', 'file/below', 'a\0b'])
      expect(await fingerprintTree(path.join(folder, name))).toBeNull();
  });

  it('has no fingerprint when it has more entries than the limit, wherever they are', async () => {
    const folder = scratchFolder();
    shell('mkdir -p many .git/refs/heads; touch many/1 many/2 .git/refs/heads/main', folder);
    // many with two, and .git with its two relevant entries: heads and main.
    expect(await fingerprintTree(folder, { left: 6 })).not.toBeNull();
    expect(await fingerprintTree(folder, { left: 5 })).toBeNull();
    shell('touch .git/refs/heads/other', folder);
    expect(await fingerprintTree(folder, { left: 6 })).toBeNull();
    shell('rm .git/refs/heads/other; touch .git/index .git/config', folder);
    expect(await fingerprintTree(folder, { left: 6 })).not.toBeNull();
  });

  it('has no fingerprint when its paths are too long', async () => {
    const folder = scratchFolder();
    const half = Array.from({ length: 14 }, () => 'd'.repeat(200)).join('/');
    mkdirSync(path.join(folder, 'low', half), { recursive: true });
    mkdirSync(path.join(folder, 'high', half), { recursive: true });
    shell(`mv low high/${half}/low`, folder);
    onTestFinished(() => shell('rm -rf high', folder));
    expect(await fingerprintTree(folder)).toBeNull();
  });
});
