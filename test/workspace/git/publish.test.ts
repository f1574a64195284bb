import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readGitDirectory } from '../../../src/workspace/git/read/read-git-directory.ts';
import { scratchFolder } from '../scratch-folder.ts';
import {
  type CheckoutChanges,
  commit,
  git,
  plantCommit,
  scratchCheckouts,
  scratchRepository,
} from './scratch-repository.ts';

const branch = 'baton/t-1';

type Scene = Awaited<ReturnType<typeof scene>>;

/** A source and a workspace filled from it. */
async function scene(changes: CheckoutChanges = {}) {
  const folder = scratchFolder();
  const source = scratchRepository(path.join(folder, 'source'));
  const scratch = scratchCheckouts(folder, source, changes);
  const place = scratch.workspace('T-1');
  const made = await scratch.checkouts.make({ workspace: place, branch });
  return { folder, source, place, made, ...scratch };
}

/** As the examination of a workspace does, which has just read its git directory. */
async function beginToPublish({ place, checkouts }: Pick<Scene, 'place' | 'checkouts'>): Promise<void> {
  const directory = await readGitDirectory(path.join(place, '.git'));
  if (directory !== null) checkouts.beginToPublish(place, directory);
}

function tip(source: string): string {
  return git(source, 'rev-parse', '--verify', `refs/heads/${branch}`);
}

describe.each(['worktree', 'clone'] as const)('publishing a branch of a %s', (strategy) => {
  // @conforms F070
  it('fetches the commits into the source, and those of the next run too (F070)', async () => {
    const { source, place, checkouts } = await scene({ strategy });
    const first = commit(place, { 'a.txt': '1\n' });
    const told = { branch, base: 'main', before: null, reason: null, elsewhere: null };
    expect(await checkouts.publish(place)).toEqual({ ...told, outcome: 'published', commit: first });
    expect(tip(source)).toBe(first);
    const second = commit(place, { 'a.txt': '2\n' });
    expect(await checkouts.publish(place)).toEqual({ ...told, outcome: 'published', commit: second, before: first });
    expect(tip(source)).toBe(second);
    expect(await checkouts.publish(place)).toEqual({ ...told, outcome: 'nothing', commit: second });
    expect((await checkouts.find(place))?.published).toBe(second);
    rmSync(place, { recursive: true });
    expect(git(source, 'fsck', '--full', '--strict', '--connectivity-only')).toBe('');
    expect(git(source, 'show', `${branch}:a.txt`)).toBe('2');
  });

  // @conforms F078
  it('leaves the files, the index, HEAD and the configuration of the source unchanged (F078)', async () => {
    const { source, place, checkouts } = await scene({ strategy });
    writeFileSync(path.join(source, 'README.md'), 'in the middle\n');
    git(source, 'add', 'README.md');
    writeFileSync(path.join(source, 'README.md'), 'of something\n');
    const seen = (): string[] => [
      git(source, 'status', '--porcelain=v2', '--branch'),
      readFileSync(path.join(source, '.git/index')).toString('hex'),
      readFileSync(path.join(source, '.git/config'), 'utf8'),
      readFileSync(path.join(source, '.git/HEAD'), 'utf8'),
      git(source, 'rev-parse', 'main'),
      readdirSync(path.join(source, '.git'))
        .filter((name) => name.includes('HEAD'))
        .join(),
    ];
    const before = seen();
    commit(place, { 'README.md': 'by the agent\n' });
    expect((await checkouts.publish(place))?.outcome).toBe('published');
    expect(seen()).toEqual(before);
  });
});

describe('publishing a branch', () => {
  it('does nothing while the agent has committed nothing', async () => {
    const { source, place, checkouts, calls } = await scene();
    writeFileSync(path.join(place, 'README.md'), 'not committed\n');
    calls.length = 0;
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'nothing' });
    expect(git(source, 'branch', '--list', branch)).toBe('');
    expect(calls).toEqual([]);
  });

  it('lets an agent rewrite commits that were published before, and keeps the earlier commit in the reflog', async () => {
    const { source, place, checkouts } = await scene();
    const first = commit(place, { 'a.txt': '1\n' });
    await checkouts.publish(place);
    git(place, 'commit', '-q', '--amend', '-m', 'better words');
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'published', before: first });
    expect(git(source, 'rev-parse', `${branch}@{1}`)).toBe(first);
  });

  it('names the governing files that the agent changed, and after a rebase none of those that its base changed', async () => {
    const { source, place, checkouts } = await scene();
    commit(place, { 'AGENTS.md': 'mine\n' });
    expect(await checkouts.publish(place)).toMatchObject({ governing: ['AGENTS.md'] });
    git(place, 'reset', '-q', '--hard', 'HEAD~1');
    commit(place, { 'a.txt': '1\n' });
    commit(source, { 'AGENTS.md': 'of the person\n' });
    git(place, 'fetch', '-q', 'origin');
    git(place, 'rebase', '-q', 'origin/main');
    const publication = await checkouts.publish(place);
    expect(publication).toMatchObject({ outcome: 'published' });
    expect(publication).not.toHaveProperty('governing');
  });

  it('moves only the branch once its commits were copied early', async () => {
    const { source, place, checkouts, calls, places } = await scene();
    const work = commit(place, { 'AGENTS.md': 'mine\n' });
    await beginToPublish({ place, checkouts });
    const called = (): unknown[] => calls.map(({ args }) => args[0]);
    await expect.poll(called).toEqual(expect.arrayContaining(['fetch', 'diff-tree']));
    expect(git(source, 'branch', '--list', branch)).toBe('');
    calls.length = 0;
    expect(await checkouts.publish(place)).toMatchObject({
      outcome: 'published',
      commit: work,
      governing: ['AGENTS.md'],
    });
    expect(called()).toEqual(['update-ref']);
    expect(tip(source)).toBe(work);
    expect(readdirSync(places.scratch)).toEqual([]);
    expect(git(source, 'fsck', '--full', '--strict', '--connectivity-only')).toBe('');
  });

  it('finds the branch of an earlier daemon among packed references, and does not take one with a longer name for it', async () => {
    const { source, place, checkouts } = await scene();
    git(source, 'branch', `${branch}0`);
    git(source, 'branch', `x/refs/heads/${branch}`);
    git(source, 'pack-refs', '--all');
    const first = commit(place, { 'a.txt': '1\n' });
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'published', commit: first, before: null });
    git(source, 'pack-refs', '--all', '--prune');
    const second = commit(place, { 'a.txt': '2\n' });
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'published', commit: second, before: first });
    expect(tip(source)).toBe(second);
  });

  it('publishes what the branch has, not what was copied early', async () => {
    const { source, place, checkouts } = await scene();
    commit(place, { 'a.txt': '1\n' });
    await beginToPublish({ place, checkouts });
    const later = commit(place, { 'a.txt': '2\n' });
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'published', commit: later });
    expect(tip(source)).toBe(later);
  });

  it('reads again where others have the branch after an early copy', async () => {
    const { source, place, checkouts } = await scene();
    commit(place, { 'a.txt': '1\n' });
    await beginToPublish({ place, checkouts });
    git(source, 'switch', '-q', '-c', branch);
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'refused', code: 'checked_out' });
  });

  it('does nothing for a remote source or a directory that is not a checkout', async () => {
    const { folder, source, checkouts, workspace } = await scene();
    expect(await checkouts.publish(workspace('T-9'))).toBeNull();
    const shown = `file://${source}`;
    const remote = scratchCheckouts(folder, source, { repo: { location: shown, shown, isLocal: false } });
    const place = remote.workspace('T-2');
    await remote.checkouts.make({ workspace: place, branch });
    commit(place, { 'a.txt': '1\n' });
    expect(await remote.checkouts.publish(place)).toBeNull();
    expect(git(source, 'branch', '--list', branch)).toBe('');
  });

  it('is refused with the reason when the source is missing, and done when it is back', async () => {
    const { source, place, checkouts } = await scene();
    const first = commit(place, { 'a.txt': '1\n' });
    renameSync(source, `${source}-away`);
    expect(await checkouts.publish(place)).toMatchObject({
      outcome: 'refused',
      branch,
      commit: first,
      code: 'failed',
      reason: expect.stringContaining(source),
    });
    renameSync(`${source}-away`, source);
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'published', commit: first });
  });

  it('never moves the branch back to an earlier commit', async () => {
    const { source, place, checkouts } = await scene();
    commit(place, { 'a.txt': '1\n' });
    const second = commit(place, { 'a.txt': '2\n' });
    await checkouts.publish(place);
    git(place, 'reset', '-q', '--hard', 'HEAD~1');
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'refused', code: 'goes_back' });
    expect(tip(source)).toBe(second);
  });

  // @conforms F066
  it('never drops commits of a branch that someone else began', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    git(source, 'checkout', '-q', '-b', branch);
    const theirs = commit(source, { 'theirs.txt': 'x\n' });
    git(source, 'checkout', '-q', 'main');
    const { checkouts, workspace } = scratchCheckouts(folder, source);
    const place = workspace('T-1');
    await checkouts.make({ workspace: place, branch });
    git(place, 'commit', '-q', '--amend', '-m', 'taken over');
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'refused', code: 'drops_commits' });
    expect(tip(source)).toBe(theirs);
    git(place, 'reset', '-q', '--hard', theirs);
    const mine = commit(place, { 'mine.txt': 'y\n' });
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'published' });
    git(place, 'reset', '-q', '--hard', 'origin/main');
    commit(place, { 'other.txt': 'z\n' });
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'refused', code: 'drops_commits' });
    expect(tip(source)).toBe(mine);
  });

  it('is refused when someone else moved the branch, until the agent has their commits', async () => {
    const { source, place, checkouts } = await scene();
    commit(place, { 'a.txt': '1\n' });
    await checkouts.publish(place);
    git(source, 'worktree', 'add', '-q', path.join(source, '..', 'other'), branch);
    const theirs = commit(path.join(source, '..', 'other'), { 'theirs.txt': 'x\n' });
    git(source, 'worktree', 'remove', path.join(source, '..', 'other'));
    commit(place, { 'a.txt': '2\n' });
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'refused', code: 'moved_by_others' });
    expect(tip(source)).toBe(theirs);
    git(place, 'pull', '-q', '--no-rebase', '--no-edit', 'origin', branch);
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'published' });
    // Taken in once, they stay: an agent that begins again on its base drops them.
    const both = tip(source);
    git(place, 'reset', '-q', '--hard', 'origin/main');
    commit(place, { 'other.txt': 'z\n' });
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'refused', code: 'drops_commits' });
    expect(tip(source)).toBe(both);
  });

  it('is refused for the second of two workspaces with the same branch', async () => {
    const { source, place, checkouts, workspace } = await scene();
    const other = workspace('T-2');
    await checkouts.make({ workspace: other, branch });
    const commits = [commit(place, { 'a.txt': '1\n' }), commit(other, { 'b.txt': '2\n' })];
    const outcomes = await Promise.all([checkouts.publish(place), checkouts.publish(other)]);
    expect(outcomes.map((each) => each?.outcome).sort()).toEqual(['published', 'refused']);
    expect(tip(source)).toBe(commits[outcomes.findIndex((each) => each?.outcome === 'published')]);
  });

  it.each(['the repository itself', 'a linked worktree', 'a rebase'])(
    'is refused while %s has it checked out',
    async (where) => {
      const { source, place, checkouts, folder } = await scene();
      const first = commit(place, { 'a.txt': '1\n' });
      await checkouts.publish(place);
      if (where === 'the repository itself') git(source, 'checkout', '-q', branch);
      else git(source, 'worktree', 'add', '-q', path.join(folder, 'linked'), branch);
      if (where === 'a rebase') {
        commit(source, { 'a.txt': 'other\n' });
        expect(() => git(path.join(folder, 'linked'), 'rebase', '-q', 'main')).toThrow();
      }
      commit(place, { 'a.txt': '2\n' });
      expect(await checkouts.publish(place)).toMatchObject({
        outcome: 'refused',
        code: 'checked_out',
      });
      expect(tip(source)).toBe(first);
    },
  );

  it('is refused when the source has that branch checked out before its first commit', async () => {
    const { source, place, checkouts } = await scene();
    git(source, 'checkout', '-q', '--orphan', branch);
    commit(place, { 'a.txt': '1\n' });
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'refused', code: 'checked_out' });
  });

  it('works with a bare source, also when its HEAD names the branch', async () => {
    const folder = scratchFolder();
    const person = scratchRepository(path.join(folder, 'person'));
    const source = path.join(folder, 'bare');
    git(folder, 'clone', '-q', '--bare', person, source);
    const { checkouts, workspace } = scratchCheckouts(folder, source, { base: 'main' });
    const place = workspace('T-1');
    await checkouts.make({ workspace: place, branch });
    git(source, 'symbolic-ref', 'HEAD', `refs/heads/${branch}`);
    const first = commit(place, { 'a.txt': '1\n' });
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'published', branch, commit: first });
  });

  it('works with a source that is itself a linked worktree', async () => {
    const folder = scratchFolder();
    const person = scratchRepository(path.join(folder, 'person'));
    const source = path.join(folder, 'linked');
    git(person, 'worktree', 'add', '-q', '-b', 'side', source);
    const { checkouts, workspace } = scratchCheckouts(folder, source);
    const place = workspace('T-1');
    expect(await checkouts.make({ workspace: place, branch })).toMatchObject({ base: 'side' });
    const first = commit(place, { 'a.txt': '1\n' });
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'published' });
    expect(tip(person)).toBe(first);
  });

  it('never moves the base, whatever the branch of the issue is called', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const base = git(source, 'rev-parse', 'HEAD');
    git(source, 'checkout', '-q', '--detach');
    const { checkouts, workspace } = scratchCheckouts(folder, source, { base: 'main' });
    const place = workspace('T-1');
    await checkouts.make({ workspace: place, branch: 'main' });
    commit(place, { 'a.txt': '1\n' });
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'refused', code: 'is_base' });
    expect(git(source, 'rev-parse', 'refs/heads/main')).toBe(base);
  });

  it('does not restore a branch that a person deleted in the source', async () => {
    const { source, place, checkouts } = await scene();
    commit(place, { 'a.txt': '1\n' });
    await checkouts.publish(place);
    git(source, 'branch', '-q', '-D', branch);
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'nothing' });
    commit(place, { 'a.txt': '2\n' });
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'refused', code: 'branch_deleted' });
  });

  it('recognizes a publication that was not recorded', async () => {
    const { place, checkouts, made, source } = await scene();
    const first = commit(place, { 'a.txt': '1\n' });
    await checkouts.publish(place);
    const record = path.join(path.dirname(made.shadow), 'checkout.json');
    writeFileSync(record, readFileSync(record, 'utf8').replace(`"published": "${first}"`, '"published": null'));
    const second = commit(place, { 'a.txt': '2\n' });
    git(source, 'fetch', '-q', place, `${branch}:${branch}`);
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'published', branch, commit: second });
    expect((await checkouts.find(place))?.published).toBe(second);
  });

  it('refuses malformed objects, and none of them enters', async () => {
    const { source, place, checkouts } = await scene();
    const bad = plantCommit(place, [{ mode: '100644', name: '.git', id: git(place, 'rev-parse', 'HEAD:README.md') }]);
    git(place, 'update-ref', `refs/heads/${branch}`, bad);
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'refused', code: 'commits_unusable' });
    expect(() => git(source, 'cat-file', '-e', bad)).toThrow();
  });

  it('refuses a commit with missing objects', async () => {
    const { source, place, checkouts, made } = await scene();
    const work = commit(place, { 'a.txt': 'will be gone\n' });
    const blob = git(place, 'rev-parse', 'HEAD:a.txt');
    rmSync(path.join(made.gitDir, 'objects', blob.slice(0, 2), blob.slice(2)), { force: true });
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'refused' });
    expect(git(source, 'branch', '--list', branch)).toBe('');
    expect(() => git(source, 'cat-file', '-e', work)).toThrow();
  });

  it.each(['a blob', 'a name of nothing', 'a branch that is gone', 'no HEAD', 'a link for .git'])(
    'is refused and harms nothing when the agent left %s',
    async (what) => {
      const { folder, source, place, checkouts, made } = await scene({ strategy: 'clone' });
      commit(place, { 'a.txt': '1\n' });
      const reference = path.join(made.gitDir, 'refs/heads', branch);
      if (what === 'a blob') writeFileSync(reference, `${git(place, 'rev-parse', 'HEAD:a.txt')}\n`);
      if (what === 'a name of nothing') writeFileSync(reference, `${'12'.repeat(20)}\n`);
      if (what === 'a branch that is gone') git(place, 'branch', '-q', '-m', 'renamed');
      if (what === 'no HEAD') rmSync(path.join(made.gitDir, 'HEAD'));
      if (what === 'a link for .git') {
        rmSync(made.gitDir, { recursive: true });
        symlinkSync(path.join(source, '.git'), made.gitDir);
      }
      expect(await checkouts.publish(place)).toMatchObject({ outcome: 'refused' });
      expect(git(source, 'branch', '--list', branch)).toBe('');
      expect(
        existsSync(path.join(folder, 'state/git/scratch')) ? readdirSync(path.join(folder, 'state/git/scratch')) : [],
      ).toEqual([]);
    },
  );

  it('runs no hook of the source and nothing that the agent planted', async () => {
    const { folder, source, place, checkouts, made } = await scene();
    const touched = path.join(folder, 'touched');
    commit(place, { 'a.txt': '1\n' });
    for (const hooks of [path.join(source, '.git/hooks'), path.join(made.gitDir, 'hooks')]) {
      mkdirSync(hooks, { recursive: true });
      for (const hook of ['reference-transaction', 'post-update', 'pre-auto-gc']) {
        writeFileSync(path.join(hooks, hook), `#!/bin/sh\ntouch ${touched}\n`, { mode: 0o755 });
      }
    }
    git(place, 'config', 'uploadpack.packObjectsHook', `touch ${touched}`);
    git(place, 'config', 'core.fsmonitor', `touch ${touched}`);
    writeFileSync(path.join(made.gitDir, 'objects/info/alternates'), `${path.join(made.borrowed[0] ?? '')}\n`);
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'published' });
    expect(existsSync(touched)).toBe(false);
  });

  it('is refused when the agent borrows from another repository', async () => {
    const { folder, source, place, checkouts, made } = await scene();
    const secret = scratchRepository(path.join(folder, 'secret'));
    const hidden = commit(secret, { 'secret.txt': 'private\n' });
    writeFileSync(path.join(made.gitDir, 'objects/info/alternates'), `${path.join(secret, '.git/objects')}\n`);
    git(place, 'update-ref', `refs/heads/${branch}`, hidden);
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'refused', code: 'git_directory_strange' });
    expect(() => git(source, 'cat-file', '-e', hidden)).toThrow();
  });

  it('is refused when another program moves the branch at the same time', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const { checkouts, workspace } = scratchCheckouts(folder, source, {
      git: (real) => ({
        run: real.run,
        ask: async (call) => {
          if (call.args[0] === 'update-ref') git(source, 'branch', branch, 'main');
          return await real.ask(call);
        },
      }),
    });
    const place = workspace('T-1');
    await checkouts.make({ workspace: place, branch });
    commit(place, { 'a.txt': '1\n' });
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'refused', code: 'not_moved' });
    expect(tip(source)).toBe(git(source, 'rev-parse', 'main'));
  });
});

describe.each(['worktree', 'clone'] as const)('an agent that left its branch in a %s', (strategy) => {
  it.each([
    ['another branch', ['checkout', '-q', '-b', 'my/other'], 'my/other'],
    ['no branch', ['checkout', '-q', '--detach'], null],
  ] as const)('for %s is reported, and its commits there are not published', async (_what, leave, name) => {
    const { source, place, checkouts } = await scene({ strategy });
    git(place, ...leave);
    const away = commit(place, { 'a.txt': '1\n' });
    const elsewhere = { branch: name, commit: away };
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'nothing', branch, elsewhere });
    expect(git(source, 'branch', '--list')).toBe('* main');
    expect(() => git(source, 'cat-file', '-e', away)).toThrow();
  });

  it('after commits on it has those published, and is reported', async () => {
    const { source, place, checkouts } = await scene({ strategy });
    const first = commit(place, { 'a.txt': '1\n' });
    git(place, 'checkout', '-q', '-b', 'my/other');
    const away = commit(place, { 'a.txt': '2\n' });
    const elsewhere = { branch: 'my/other', commit: away };
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'published', commit: first, elsewhere });
    expect(tip(source)).toBe(first);
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'nothing', commit: first, elsewhere });
  });

  it('by renaming it is reported with the place of the work', async () => {
    const { place, checkouts } = await scene({ strategy });
    const work = commit(place, { 'a.txt': '1\n' });
    git(place, 'branch', '-q', '-m', 'renamed');
    const elsewhere = { branch: 'renamed', commit: work };
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'refused', branch, commit: null, elsewhere });
  });

  it.each(['the base', 'an earlier commit', 'a branch that it merged'])('for %s has no work there', async (where) => {
    const { place, checkouts } = await scene({ strategy });
    commit(place, { 'a.txt': '1\n' });
    const last = commit(place, { 'a.txt': '2\n' });
    if (where === 'the base') git(place, 'checkout', '-q', 'origin/main');
    if (where === 'an earlier commit') git(place, 'checkout', '-q', 'HEAD~1');
    if (where === 'a branch that it merged') git(place, 'checkout', '-q', '-b', 'merged');
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'published', commit: last, elsewhere: null });
  });

  it('and broke its history there is reported, and has its branch published all the same', async () => {
    const { place, checkouts, made } = await scene({ strategy });
    const first = commit(place, { 'a.txt': '1\n' });
    git(place, 'checkout', '-q', '-b', 'my/other');
    const lost = commit(place, { 'a.txt': '2\n' });
    const away = commit(place, { 'a.txt': '3\n' });
    rmSync(path.join(made.gitDir, 'objects', lost.slice(0, 2), lost.slice(2)), { force: true });
    const elsewhere = { branch: 'my/other', commit: away };
    expect(await checkouts.publish(place)).toMatchObject({ outcome: 'published', commit: first, elsewhere });
  });
});
