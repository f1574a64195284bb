import {
  appendFileSync,
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { emptyCheckout, type JudgeCheckout, makeJudgeCheckout } from '../../src/pulls/judge/judge-checkout.ts';
import { gitPlaces } from '../../src/workspace/git/git-places.ts';
import { git, gits } from '../workspace/git/scratch-repository.ts';
import { branch, pullScene } from './pull-scene.ts';

/** The checkout of a judge of one commit of a branch, which has moved on since. */
async function judged() {
  const scene = pullScene();
  const { folder, git: real, push, source, tip } = scene;
  const baseCommit = tip('main') ?? '';
  const commit = push(branch, { 'a.txt': 'one\n', 'run.sh': 'echo\n', '.gitignore': 'out/\n' });
  push(branch, { 'a.txt': 'later\n' });
  const places = gitPlaces(path.join(folder, 'state'));
  const repo = { location: source, shown: source, isLocal: true };
  const make = () =>
    makeJudgeCheckout({ git: real, places, repo }, { commit, baseCommit, signal: new AbortController().signal });
  return { source, commit, places, make, checkout: await make() };
}

const inside = ({ folder }: JudgeCheckout, name: string): string => path.join(folder, name);

describe('the checkout of a judge', () => {
  // @conforms judge.10
  it('has the files of exactly its commit, on no branch, and the difference to the base', async () => {
    const { checkout, commit } = await judged();
    await using _ = checkout;
    expect(readFileSync(inside(checkout, 'a.txt'), 'utf8')).toBe('one\n');
    expect(git(checkout.folder, 'rev-parse', 'HEAD')).toBe(commit);
    expect(() => git(checkout.folder, 'symbolic-ref', 'HEAD')).toThrow();
    expect(checkout.commit).toBe(commit);
    expect(checkout.diff).toContain('+one');
    expect(checkout.diff).not.toContain('later');
  });

  // @conforms judge.10
  it.each<[string, (at: JudgeCheckout) => void]>([
    ['changes a file', (at) => appendFileSync(inside(at, 'a.txt'), 'two\n')],
    [
      'changes a file to the same size, and sets its time back',
      (at) => {
        const { atime, mtime } = statSync(inside(at, 'a.txt'));
        writeFileSync(inside(at, 'a.txt'), 'two\n');
        utimesSync(inside(at, 'a.txt'), atime, mtime);
      },
    ],
    ['adds a file', (at) => writeFileSync(inside(at, 'new.txt'), 'x')],
    ['removes a file', (at) => rmSync(inside(at, 'a.txt'))],
    ['makes a file executable', (at) => chmodSync(inside(at, 'run.sh'), 0o755)],
    [
      'commits its change',
      (at) => {
        appendFileSync(inside(at, 'a.txt'), 'two\n');
        gits(at.folder, ['-c', 'user.name=J', '-c', 'user.email=j@example.invalid', 'commit', '-q', '-a', '-m', 'x']);
      },
    ],
    [
      'tells git to look away from its change',
      (at) => {
        git(at.folder, 'update-index', '--assume-unchanged', 'a.txt');
        appendFileSync(inside(at, 'a.txt'), 'two\n');
      },
    ],
    [
      'hides the file that it adds in its git directory',
      (at) => {
        writeFileSync(inside(at, '.git/info/exclude'), '*\n');
        writeFileSync(inside(at, 'new.txt'), 'x');
      },
    ],
    ['hides it by a rule in the checkout', (at) => appendFileSync(inside(at, '.gitignore'), '*\n')],
    [
      'removes its git directory, and changes a file',
      (at) => {
        rmSync(inside(at, '.git'), { recursive: true });
        appendFileSync(inside(at, 'a.txt'), 'two\n');
      },
    ],
  ])('is another one when the judge %s', async (_what, act) => {
    const { checkout } = await judged();
    await using _ = checkout;
    const before = await checkout.fingerprint();
    expect(before).not.toBeNull();
    act(checkout);
    expect(await checkout.fingerprint()).not.toBe(before);
  });

  it('is the same when the judge only reads, or builds into ignored folders', async () => {
    const { checkout } = await judged();
    await using _ = checkout;
    const before = await checkout.fingerprint();
    for (const args of [['status'], ['log', '-1'], ['diff']]) git(checkout.folder, ...args);
    gits(checkout.folder, ['init', '-q', 'out/nested']);
    expect(await checkout.fingerprint()).toBe(before);
  });

  // @conforms judge.10
  it('shares nothing with the repository that a judge could write, and leaves nothing behind', async () => {
    const { checkout, commit, make, places, source } = await judged();
    await using _other = await make();
    gits(checkout.folder, ['update-ref', 'refs/heads/main', commit], ['tag', 'mine'], ['gc', '-q', '--prune=now']);
    expect([git(source, 'tag'), git(source, 'rev-parse', 'main') === commit]).toEqual(['', false]);
    expect(git(source, 'fsck', '--no-dangling')).toBe('');
    const count = readdirSync(places.scratch).length;
    await checkout[Symbol.asyncDispose]();
    expect([existsSync(checkout.folder), readdirSync(places.scratch).length]).toEqual([false, count - 1]);
  });

  it('leaves nothing behind when its commit is gone', async () => {
    const { checkout, places, source } = await judged();
    const { git: real } = pullScene();
    const before = readdirSync(places.scratch).length;
    const repo = { location: source, shown: source, isLocal: true };
    const at = { commit: '1'.repeat(40), baseCommit: checkout.commit ?? '', signal: new AbortController().signal };
    await expect(makeJudgeCheckout({ git: real, places, repo }, at)).rejects.toThrow();
    expect(readdirSync(places.scratch)).toHaveLength(before);
    await checkout[Symbol.asyncDispose]();
  });
});

it('without a repository is an empty folder, which must stay empty', async () => {
  const { places } = await judged();
  await using checkout = await emptyCheckout(places);
  const before = await checkout.fingerprint();
  writeFileSync(inside(checkout, 'x'), '');
  expect(await checkout.fingerprint()).not.toBe(before);
});
