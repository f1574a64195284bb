import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { mergeMethods } from '../../src/core/pull/pull-request.ts';
import { localHost } from '../../src/pulls/local/local-host.ts';
import { mergeHere } from '../../src/pulls/local/merge-here.ts';
import type { Git, GitCall } from '../../src/workspace/git/git.ts';
import { commit, git, plantCommit } from '../workspace/git/scratch-repository.ts';
import { hatchCanary } from '../workspace/git/traps.ts';
import { branch, leaveDesk, mergeOf, type PullScene, pullOf, pullScene } from './pull-scene.ts';

const deps = { clock: systemClock, containment: 'marker_sweep', daemonId: systemChance.id() } as const;

async function openIn(scene: PullScene, over: Parameters<typeof pullOf>[1] = {}) {
  const change = await scene.pulls.open({ branch, base: 'main', title: 't', body: '', ...over });
  return pullOf(change, over);
}

async function proposed(options: Parameters<typeof pullScene>[0] = {}) {
  const scene = pullScene(options);
  scene.push(branch, { 'new.txt': 'hello\n' }, 'first of the agent');
  scene.push(branch, { 'more.txt': 'more\n' }, 'second of the agent');
  return { ...scene, pull: await openIn(scene) };
}

/** Calls `act` before the first git call that it is for. */
function justBefore(isIt: (call: GitCall) => boolean, act: () => void): (real: Git) => Git {
  let isDone = false;
  const watch = (call: GitCall): void => {
    if (isDone || !isIt(call)) return;
    isDone = true;
    act();
  };
  return (real) => ({
    run: async (call) => {
      watch(call);
      return real.run(call);
    },
    ask: async (call) => {
      watch(call);
      return real.ask(call);
    },
  });
}

describe('a merge in the local repository', () => {
  it('makes a merge commit by the person of the git configuration, with every object', async () => {
    const scene = await proposed();
    const { pulls, pull, source, tip, push } = scene;
    const baseCommit = push('main', { 'other.txt': 'x\n' });
    leaveDesk(scene);
    expect(await pulls.merge(pull, mergeOf(pull, { baseCommit }))).toMatchObject({ outcome: 'merged' });
    const facts = git(source, 'show', '-s', '--format=%P|%an|%ae|%cn|%ct|%s', 'main').split('|');
    const person = ['Ada Person', 'ada@example.invalid', 'Ada Person', '1700000000'];
    expect(facts).toEqual([`${baseCommit} ${pull.headCommit}`, ...person, 'Merge T-1: Say hello']);
    expect(git(source, 'fsck', '--full', '--strict')).not.toMatch(/missing|broken|error/);
    expect(git(source, 'reflog', 'show', '--format=%gn', '--max-count=1', 'main')).toBe('Ada Person');
    expect(tip(branch)).toBe(pull.headCommit);
    expect(git(source, 'status', '--porcelain')).toBe('');
  });

  it('squashes to one commit on the base', async () => {
    const { pulls, pull, source, push } = await proposed();
    const baseCommit = push('main', { 'other.txt': 'x\n' });
    await pulls.merge(pull, mergeOf(pull, { baseCommit, method: 'squash' }));
    expect(git(source, 'show', '-s', '--format=%P|%an|%s', 'main')).toBe(`${baseCommit}|Ada Person|T-1: Say hello`);
    expect(git(source, 'diff', '--name-only', baseCommit, 'main')).toBe('more.txt\nnew.txt');
  });

  it('rebases each commit with its author, and leaves out merges of the base and empty commits', async () => {
    const { pulls, push, source, desk, onBranch, tip } = await proposed();
    push('main', { 'other.txt': 'x\n' });
    onBranch(
      branch,
      ['merge', '-q', '-m', 'from main', 'origin/main'],
      ['commit', '-q', '--allow-empty', '-m', 'none'],
    );
    writeFileSync(path.join(desk, 'last.txt'), 'ü\n');
    git(desk, 'add', '-A');
    git(
      desk,
      'commit',
      '-q',
      '--author=Robot <robot@example.invalid>',
      '--date=2001-02-03T04:05:06+0700',
      '-m',
      'größer\n\nbody',
    );
    git(desk, 'push', '-q', 'origin', `HEAD:refs/heads/${branch}`);
    const baseCommit = push('main', { 'third.txt': 'x\n' });
    const pull = pullOf({ hostNumber: null, url: null, headCommit: tip(branch) ?? '', baseCommit });
    expect(await pulls.merge(pull, mergeOf(pull, { method: 'rebase' }))).toMatchObject({ outcome: 'merged' });
    const log = git(source, 'log', '--reverse', '--format=%s|%an|%ad|%cn', '--date=iso', `${baseCommit}..main`);
    const lines = log.split('\n').map((line) => line.split('|'));
    expect(lines.map(([subject]) => subject)).toEqual(['first of the agent', 'second of the agent', 'größer']);
    expect(lines.at(-1)).toEqual(['größer', 'Robot', '2001-02-03 04:05:06 +0700', 'Ada Person']);
    expect(git(source, 'show', '-s', '--format=%b', 'main')).toBe('body\n');
    expect(git(source, 'fsck', '--full', '--strict')).not.toMatch(/missing|broken|error/);
  });

  it('is not made again where the base had the change before it stood in review', async () => {
    const scene = pullScene();
    scene.push(branch, { 'new.txt': 'hello\n' }, 'of the agent');
    const squashed = scene.push('main', { 'new.txt': 'hello\n' }, 'by hand');
    const baseCommit = scene.push('main', { 'other.txt': 'x\n' });
    const pull = await openIn(scene);
    expect(pull.baseCommit).toBe(baseCommit);
    const [facts] = await scene.pulls.read([pull]);
    // A change may repeat what was there: only a person says that it is done.
    expect(facts?.merged ?? null).toBeNull();
    const result = await scene.pulls.merge(pull, mergeOf(pull, { method: 'squash' }));
    expect(result).toMatchObject({ outcome: 'merged', commit: squashed });
    expect(scene.tip('main')).toBe(baseCommit);
  });

  it('makes the same commits from the same request', async () => {
    for (const method of mergeMethods) {
      const { pulls, pull, source, push, tip } = await proposed();
      const baseCommit = push('main', { 'other.txt': 'x\n' });
      const request = mergeOf(pull, { baseCommit, method });
      await pulls.merge(pull, request);
      const first = tip('main');
      git(source, 'update-ref', 'refs/heads/main', baseCommit);
      await pulls.merge(pull, request);
      expect(tip('main')).toBe(first);
    }
  });

  it('refuses without a name and an address, and takes neither from the daemon', async () => {
    const { pulls, pull, source, tip } = await proposed();
    git(source, 'config', '--unset', 'user.email');
    expect(await pulls.merge(pull, mergeOf(pull))).toEqual({ outcome: 'refused', refusal: { code: 'no_identity' } });
    expect(tip('main')).toBe(pull.baseCommit);
  });

  // @conforms judge.2
  it.each(['base', 'branch'] as const)(
    'by Baton itself is refused when the %s moves after its last word',
    async (what) => {
      const { pulls, pull, push, source, tip } = await proposed();
      git(source, 'config', '--unset', 'user.email');
      let moved: string | null = null;
      const objection = async () => {
        moved = push(what === 'base' ? 'main' : branch, { 'late.txt': 'x\n' });
        return null;
      };
      const result = await pulls.merge(pull, mergeOf(pull, { by: { kind: 'orchestrator' }, objection }));
      expect(result).toEqual({
        outcome: 'refused',
        refusal:
          what === 'base' ? { code: 'base_moved', baseCommit: moved } : { code: 'head_moved', headCommit: moved },
      });
      expect(tip('main')).toBe(what === 'base' ? moved : pull.baseCommit);
    },
  );

  it('does not lose a commit that comes to the base in the last moment', async () => {
    for (const method of mergeMethods) {
      let moves = (): void => {};
      const { pulls, pull, push, tip } = await proposed({
        git: justBefore(
          ({ args }) => args[0] === 'update-ref',
          () => moves(),
        ),
      });
      let moved = '';
      moves = () => {
        moved = push('main', { 'last-moment.txt': 'x\n' });
      };
      const refusal = { code: 'base_moved', baseCommit: expect.any(String) };
      expect(await pulls.merge(pull, mergeOf(pull, { method }))).toEqual({ outcome: 'refused', refusal });
      expect(tip('main')).toBe(moved);
    }
  });

  it('does not merge a branch that a person force-pushed in the last moment, and leaves it alone', async () => {
    let moves = (): void => {};
    const { pulls, pull, onBranch, tip } = await proposed({
      git: justBefore(
        ({ args }) => args[0] === 'update-ref',
        () => moves(),
      ),
    });
    let moved = '';
    moves = () => {
      moved = onBranch(branch, ['commit', '-q', '--amend', '-m', 'of a person']);
    };
    expect(await pulls.merge(pull, mergeOf(pull))).toMatchObject({
      outcome: 'refused',
      refusal: { code: 'head_moved' },
    });
    expect([tip('main'), tip(branch)]).toEqual([pull.baseCommit, moved]);
  });

  it('refuses unrelated histories', async () => {
    const scene = pullScene();
    const { desk, pulls, tip } = scene;
    git(desk, 'checkout', '-q', '--orphan', 'apart');
    commit(desk, { 'apart.txt': 'x\n' });
    git(desk, 'push', '-q', 'origin', `HEAD:refs/heads/${branch}`);
    const pull = await openIn(scene);
    for (const method of mergeMethods)
      expect(await pulls.merge(pull, mergeOf(pull, { method }))).toEqual({
        outcome: 'refused',
        refusal: { code: 'unrelated' },
      });
    expect(await pulls.read([pull])).toMatchObject([{ mergeability: 'conflict', conflicts: [] }]);
    expect(tip('main')).toBe(pull.baseCommit);
  });

  it('does not open anything in an empty repository, and reads a base that is gone', async () => {
    const { pulls, folder, source, pull, git: real } = await proposed();
    const empty = path.join(folder, 'empty');
    mkdirSync(empty);
    git(empty, 'init', '-q', '-b', 'main');
    const repo = { location: empty, shown: empty, isLocal: true };
    const places = { caches: '', checkouts: '', salvage: '', archives: '', scratch: path.join(folder, 'scratch') };
    const there = localHost.create({ repo, git: real, places });
    const change = { branch, base: 'main', title: '', body: '' };
    await expect(there.open(change)).rejects.toMatchObject({ code: 'change_missing' });
    git(source, 'update-ref', '-d', 'refs/heads/main');
    expect(await pulls.read([pull])).toMatchObject([{ baseCommit: null, mergeability: 'unknown', merged: null }]);
    expect(await pulls.merge(pull, mergeOf(pull))).toEqual({
      outcome: 'refused',
      refusal: { code: 'base_moved', baseCommit: null },
    });
  });

  it('keeps submodules, in a repository with SHA-256 and a branch with an odd name', async () => {
    const scene = pullScene({ sourceOptions: ['--object-format=sha256'] });
    const { desk, pulls, source } = scene;
    const name = 'baton/größe-漢';
    scene.onBranch(
      name,
      ['update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(64)},vendor/lib`],
      ['commit', '-q', '-m', 'a submodule'],
    );
    const pull = await openIn(scene, { branch: name });
    git(desk, 'checkout', '-q', 'main');
    const baseCommit = scene.push('main', { 'other.txt': 'x\n' });
    expect(await pulls.merge(pull, mergeOf(pull, { baseCommit }))).toMatchObject({ outcome: 'merged' });
    expect(git(source, 'ls-tree', 'main', 'vendor/lib')).toContain(`160000 commit ${'1'.repeat(64)}`);
  });

  it('refuses a base that is only another name', async () => {
    const { pulls, pull, source, tip } = await proposed();
    git(source, 'branch', 'trunk', 'main');
    git(source, 'symbolic-ref', 'refs/heads/main', 'refs/heads/trunk');
    expect(await pulls.merge(pull, mergeOf(pull))).toMatchObject({ refusal: { code: 'protected' } });
    expect(tip('trunk')).toBe(pull.baseCommit);
  });

  it('reads nothing from a commit with more files than any work tree', async () => {
    const { pulls, source, pull } = await proposed();
    let tree = git(source, 'rev-parse', 'main^{tree}');
    let bomb = '';
    for (let depth = 0; depth < 9; depth += 1) {
      bomb = plantCommit(
        source,
        Array.from({ length: 10 }, (_, at) => ({ mode: '40000', name: `d${at}`, id: tree })),
      );
      tree = git(source, 'rev-parse', `${bomb}^{tree}`);
    }
    git(source, 'update-ref', `refs/heads/${branch}`, bomb);
    const pulled = { ...pull, headCommit: bomb };
    expect(await pulls.read([pulled])).toMatchObject([{ mergeability: 'unknown', merged: null }]);
    await expect(pulls.merge(pulled, mergeOf(pulled))).rejects.toMatchObject({ code: 'git_failed' });
  });
});

describe('the objects of a change', () => {
  it('are examined once: a base that moves is compared, and nothing else', async () => {
    const asked: string[] = [];
    const counted = (real: Git): Git => ({
      run: async (call) => {
        asked.push(call.args[0] ?? '');
        return real.run(call);
      },
      ask: async (call) => {
        asked.push(call.args[0] ?? '');
        return real.ask(call);
      },
    });
    const { pulls, pull, push } = await proposed({ git: counted });
    for (const name of ['one', 'two']) {
      push('main', { [`${name}.txt`]: 'x\n' });
      asked.length = 0;
      expect(await pulls.read([pull])).toMatchObject([{ mergeability: 'behind', merged: null }]);
    }
    // Where the base is checked out, the new commits on both sides, the patch of the new one, and the merge with its tree.
    const compared = [
      'for-each-ref',
      'log',
      'merge-base',
      'merge-tree',
      'patch-id',
      'rev-list',
      'rev-list',
      'rev-parse',
    ];
    expect(asked.toSorted()).toEqual(compared);
    asked.length = 0;
    expect(await pulls.read([pull])).toMatchObject([{ mergeability: 'behind' }]);
    expect(asked).toEqual(['for-each-ref']);
  });
});

describe('a base that is checked out', () => {
  const merge = async (scene: Awaited<ReturnType<typeof proposed>>) => {
    const result = await scene.pulls.merge(scene.pull, mergeOf(scene.pull));
    if (result.outcome !== 'refused' || result.refusal.code !== 'checked_out') throw new Error(JSON.stringify(result));
    return result.refusal;
  };

  it('stays, with its files; the person moves it forward to the finished merge, which is then seen', async () => {
    const scene = await proposed();
    const { source, pulls, pull, tip } = scene;
    git(source, 'checkout', '-q', 'main');
    expect(await pulls.read([pull])).toMatchObject([{ checkedOutIn: source }]);
    const refusal = await merge(scene);
    expect(refusal.folder).toBe(source);
    expect([tip('main'), git(source, 'status', '--porcelain')]).toEqual([pull.baseCommit, '']);
    git(source, 'merge', '-q', '--ff-only', refusal.commit);
    expect(readFileSync(path.join(source, 'new.txt'), 'utf8')).toBe('hello\n');
    expect(await pulls.read([pull])).toMatchObject([
      { merged: { commit: refusal.commit, by: 'Ada Person', method: 'merge' } },
    ]);
  });

  it('is found in another worktree, and in one that is in the middle of a rebase of it', async () => {
    const scene = await proposed();
    const { source, folder } = scene;
    const other = path.join(folder, 'other');
    git(source, 'worktree', 'add', '-q', other, 'main');
    expect((await merge(scene)).folder).toBe(other);
    git(other, 'checkout', '-q', '--detach');
    const state = path.join(source, '.git/worktrees/other/rebase-merge');
    mkdirSync(state);
    writeFileSync(path.join(state, 'head-name'), 'refs/heads/main\n');
    expect(await merge(scene)).toMatchObject({ code: 'checked_out' });
  });

  it('is moved by the command line in that folder as that person, with their hooks', async () => {
    const scene = await proposed();
    const { source, pull, tip } = scene;
    git(source, 'checkout', '-q', 'main');
    const { commit: made } = await merge(scene);
    const hook = path.join(source, '.git/hooks/post-merge');
    writeFileSync(hook, `#!/bin/sh\ntouch "${source}/../hooked"\n`, { mode: 0o755 });
    const env = { PATH: process.env.PATH ?? '', HOME: source };
    const waiting = { folder: source, base: 'main', baseCommit: pull.baseCommit, commit: made };

    writeFileSync(path.join(source, 'README.md'), 'in the middle\n');
    expect(await mergeHere(waiting, env, deps)).toEqual({ code: 'dirty', folder: source });
    expect(readFileSync(path.join(source, 'README.md'), 'utf8')).toBe('in the middle\n');
    git(source, 'checkout', '-q', '--', 'README.md');

    git(source, 'checkout', '-q', '--detach');
    expect(await mergeHere(waiting, env, deps)).toMatchObject({ code: 'checked_out' });
    git(source, 'checkout', '-q', 'main');

    expect(await mergeHere(waiting, env, deps)).toBeNull();
    expect(await mergeHere(waiting, env, deps)).toBeNull();
    expect(tip('main')).toBe(made);
    expect(existsSync(path.join(source, '../hooked'))).toBe(true);
    commit(source, { 'later.txt': 'x\n' });
    expect(await mergeHere(waiting, env, deps)).toMatchObject({ code: 'base_moved', baseCommit: tip('main') });
  });
});

describe('the settings of a repository', () => {
  it('run no program and sign nothing, whatever they name', async () => {
    const scene = await proposed();
    const { source, folder, pulls, push, tip, onBranch } = scene;
    const canary = hatchCanary(folder);
    const settings = {
      'merge.trap.driver': `${canary.program} %O %A %B`,
      'merge.default': 'trap',
      'merge.ff': 'only',
      'merge.verifySignatures': 'true',
      'diff.external': canary.program,
      'diff.trap.textconv': canary.program,
      'diff.trap.command': canary.program,
      'filter.trap.clean': canary.program,
      'filter.trap.smudge': canary.program,
      'commit.gpgSign': 'true',
      'gpg.program': canary.program,
      'core.fsmonitor': canary.program,
      'core.hooksPath': path.join(folder, 'hooks'),
      'core.alternateRefsCommand': canary.program,
      'core.sshCommand': canary.program,
      'uploadpack.packObjectsHook': canary.program,
      'core.editor': canary.program,
    };
    for (const [name, value] of Object.entries(settings)) git(source, 'config', name, value);
    mkdirSync(path.join(folder, 'hooks'));
    for (const hook of ['reference-transaction', 'pre-merge-commit', 'post-merge', 'post-update', 'update'])
      writeFileSync(path.join(folder, 'hooks', hook), `#!/bin/sh\nexec ${canary.program}\n`, { mode: 0o755 });
    writeFileSync(path.join(source, '.git/info/attributes'), '* merge=trap diff=trap filter=trap\n');
    git(source, 'config', 'core.hooksPath', '/dev/null');
    git(source, 'config', '--unset', 'core.fsmonitor');
    push(branch, { '.gitattributes': '* merge=trap diff=trap filter=trap\n', 'README.md': 'hello\nagent\n' });
    const baseCommit = push('main', { 'README.md': 'hello\nperson\n', 'src/a.txt': 'one\n' });
    git(source, 'config', 'core.hooksPath', path.join(folder, 'hooks'));
    git(source, 'config', 'core.fsmonitor', canary.program);
    canary.silence();
    const pull = await openIn(scene);
    await pulls.read([pull]);
    // Both changed the same lines: git itself decides, not a driver.
    expect(await pulls.merge(pull, mergeOf(pull, { baseCommit }))).toMatchObject({ refusal: { code: 'conflict' } });
    git(source, 'config', 'core.hooksPath', '/dev/null');
    onBranch(branch, ['reset', '-q', '--hard', 'HEAD~1']);
    const head = push(branch, { '.gitattributes': '* merge=trap diff=trap filter=trap\n', 'src/a.txt': 'two\n' });
    git(source, 'config', 'core.hooksPath', path.join(folder, 'hooks'));
    canary.silence();
    for (const method of mergeMethods) {
      const again = { ...pull, headCommit: head };
      git(source, '-c', 'core.hooksPath=/dev/null', 'update-ref', 'refs/heads/main', baseCommit);
      expect(await pulls.merge(again, mergeOf(again, { baseCommit, method }))).toMatchObject({ outcome: 'merged' });
      expect(git(source, 'cat-file', 'commit', tip('main') ?? '')).not.toContain('gpgsig');
      await pulls.read([again]);
    }
    expect(canary.sang()).toEqual([]);
    // The trap works: plain git would have run the program.
    expect(() => git(source, '-c', 'core.hooksPath=/dev/null', 'commit', '-q', '--allow-empty', '-m', 'x')).toThrow();
    expect(canary.sang()).not.toEqual([]);
  });

  it('that send git to another program end the merge, and run nothing', async () => {
    const { source, folder, pulls, pull, tip } = await proposed();
    const canary = hatchCanary(folder);
    git(source, 'config', `url.ext::${canary.program} .insteadOf`, '/');
    await expect(pulls.merge(pull, mergeOf(pull))).rejects.toMatchObject({ code: 'git_failed' });
    expect([tip('main'), canary.sang()]).toEqual([pull.baseCommit, []]);
  });

  it('leave nothing behind in the scratch folder', async () => {
    const { pulls, pull, folder } = await proposed();
    await pulls.merge(pull, mergeOf(pull));
    expect(readdirSync(path.join(folder, 'state/git/scratch'))).toEqual([]);
  });

  it('of a remote repository are refused', () => {
    const repo = { location: 'https://example.org/r.git', shown: 'https://example.org/r.git', isLocal: false };
    const { git: real, folder } = pullScene();
    const places = { caches: '', checkouts: '', salvage: '', archives: '', scratch: folder };
    expect(() => localHost.create({ repo, git: real, places })).toThrowError(
      expect.objectContaining({ code: 'unsupported_setting' }),
    );
  });
});
