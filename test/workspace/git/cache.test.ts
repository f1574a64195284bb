import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock/system-clock.ts';
import { BatonError } from '../../../src/core/baton-error.ts';
import { rejection, scratchFolder } from '../scratch-folder.ts';
import { commit, git, type ScratchCheckouts, scratchCheckouts, scratchRepository } from './scratch-repository.ts';

function scene() {
  const folder = scratchFolder();
  const source = scratchRepository(path.join(folder, 'source'));
  return { folder, source, ...scratchCheckouts(folder, source) };
}

function make({ checkouts, workspace }: ScratchCheckouts, name: string) {
  return checkouts.make({ workspace: workspace(name), branch: `baton/${name}` });
}

/** The only cache. */
function cacheIn({ places }: ScratchCheckouts): string {
  const names = readdirSync(places.caches).filter((name) => name.endsWith('.git'));
  expect(names).toHaveLength(1);
  return path.join(places.caches, names[0] ?? '');
}

function packIn(cache: string): string {
  const name = readdirSync(path.join(cache, 'objects/pack')).find((each) => each.endsWith('.pack'));
  return path.join(cache, 'objects/pack', name ?? 'none');
}

describe('a base that a remote host has', () => {
  it('is fetched before each new workspace, which starts there', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const main = git(source, 'rev-parse', 'main');
    const bring = async (): Promise<string> => {
      const newer = git(source, 'commit-tree', '-p', main, '-m', `at ${systemClock.monotonic()}`, `${main}^{tree}`);
      git(source, 'update-ref', 'refs/baton/base/main', newer);
      return 'main';
    };
    const scratch = scratchCheckouts(folder, source, { fetchBase: bring });
    for (const name of ['T-1', 'T-2']) {
      const made = await make(scratch, name);
      const newest = git(source, 'rev-parse', 'refs/baton/base/main');
      expect(made).toMatchObject({ base: 'main', baseCommit: newest });
    }
    expect(git(source, 'rev-parse', 'main')).toBe(main);
  });

  it('that cannot be fetched is a fault of the environment', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const fetchBase = async (): Promise<string> => {
      throw new BatonError('tracker_request', 'The host does not answer.', { nextStep: 'Wait.' });
    };
    const error = await rejection(make(scratchCheckouts(folder, source, { fetchBase }), 'T-1'));
    expect([error.code, error.nextStep]).toEqual(['repository_unavailable', 'Wait.']);
  });
});

describe('an unusable source', () => {
  async function failure(prepare: (source: string) => void, base: string | null = null) {
    const folder = scratchFolder();
    const source = path.join(folder, 'source');
    prepare(source);
    const scratch = scratchCheckouts(folder, source, { base });
    const error = await rejection(make(scratch, 'T-1'));
    expect(error.code).toBe('repository_unavailable');
    expect(error.message).toContain(source);
    expect(await scratch.checkouts.find(scratch.workspace('T-1'))).toBeNull();
    expect(existsSync(scratch.places.caches) ? readdirSync(scratch.places.caches) : []).toEqual([]);
    return error;
  }

  const noise = /access rights|Could not read from remote/;

  it.each<[what: string, prepare: (source: string) => void, problem: string, nextStep: string]>([
    ['there is nothing at its path', () => {}, 'path_not_found', 'workspace.repo'],
    [
      'its path is a link that leads nowhere',
      (source) => symlinkSync('nowhere', source),
      'dangling_link',
      'workspace.repo',
    ],
    ['its path is a file', (source) => writeFileSync(source, 'x'), 'path_is_file', 'workspace.repo'],
    ['there is a folder that is no repository', (source) => mkdirSync(source), 'no_repository', 'git init'],
  ])('is reported when %s', async (_what, prepare, problem, nextStep) => {
    const error = await failure(prepare);
    expect(error.details).toMatchObject({ problem });
    expect(error.message).not.toMatch(noise);
    expect(error.nextStep).toContain(nextStep);
  });

  it('is reported when its path leads through a file', async () => {
    const folder = scratchFolder();
    writeFileSync(path.join(folder, 'file'), '');
    const error = await rejection(make(scratchCheckouts(folder, path.join(folder, 'file/source')), 'T-1'));
    expect(error).toMatchObject({ code: 'repository_unavailable', details: { problem: 'path_not_found' } });
  });

  it('is reported with the repository when the path is a folder inside one', async () => {
    const folder = scratchFolder();
    const top = scratchRepository(path.join(folder, 'top'));
    const scratch = scratchCheckouts(folder, path.join(top, 'src'));
    const error = await rejection(make(scratch, 'T-1'));
    expect(error).toMatchObject({
      code: 'repository_unavailable',
      details: { repository: `${top}/src`, problem: 'folder_in_repository', top_level: top },
    });
    expect(error.nextStep).toContain('workspace.repo');
  });

  it.each<[what: string, damage: (source: string) => void]>([
    ['has no HEAD', (source) => rmSync(path.join(source, '.git/HEAD'))],
    [
      'is a link to nowhere',
      (source) => {
        rmSync(path.join(source, '.git'), { recursive: true });
        writeFileSync(path.join(source, '.git'), 'gitdir: /nowhere/at/all\n');
      },
    ],
  ])('is reported with the message of git, without its noise, when its .git %s', async (_what, damage) => {
    const error = await failure((source) => damage(scratchRepository(source)));
    expect(error.details).toMatchObject({ problem: 'not_a_repository' });
    expect(error.message).toMatch(/fatal: .*not.* a git repository/);
    expect(error.message).not.toMatch(noise);
  });

  it.skipIf(process.getuid?.() !== 0)('is reported when it belongs to another user', async () => {
    const error = await failure((source) => {
      scratchRepository(source);
      for (const each of ['', '.git']) chownSync(path.join(source, each), 65_534, 65_534);
    });
    expect(error.details).toMatchObject({ problem: 'other_owner' });
    expect(error.message).not.toMatch(noise);
    expect(error.nextStep).toContain('safe.directory');
  });

  it('is reported when it lacks the branch, with the branch that it has', async () => {
    const error = await failure((source) => scratchRepository(source), 'release');
    expect(error.details).toMatchObject({ problem: 'no_such_branch', base: 'release', likely: 'main' });
    expect(error.details).not.toHaveProperty('base_is');
    expect(error.nextStep).toContain('workspace.base');
    expect(error.nextStep).toContain('main');
  });

  it('is reported with the branch that differs only in case', async () => {
    const error = await failure((source) => git(scratchRepository(source), 'branch', 'Release'), 'release');
    expect(error.details).toMatchObject({ problem: 'no_such_branch', base: 'release', likely: 'Release' });
    expect(error.nextStep).toContain('Release');
  });

  /** A repository with a branch `topic` that is ahead, tags of both, and a remote branch. */
  function manyNames(source: string): void {
    scratchRepository(source);
    git(source, 'tag', 'light');
    git(source, 'checkout', '-q', '-b', 'topic/one');
    commit(source, { 'b.txt': 'x\n' });
    git(source, 'tag', '-a', '-m', 'x', 'heavy');
    git(source, 'update-ref', 'refs/remotes/origin/seen', 'HEAD');
    git(source, 'update-ref', 'refs/remotes/mine/deep/seen', 'HEAD');
    git(source, 'update-ref', 'refs/remotes/origin/$(id)', 'HEAD');
    git(source, 'checkout', '-q', 'main');
  }

  it.each([
    ['refs/heads/main', 'qualified_branch', 'main'],
    ['heads/topic/one', 'qualified_branch', 'topic/one'],
    ['origin/main', 'remote_branch', 'main'],
    ['upstream/topic/one', 'remote_branch', 'topic/one'],
    ['mine/main', 'remote_branch', 'main'],
    ['refs/remotes/other/topic/one', 'remote_branch', 'topic/one'],
    ['origin/nothing', 'remote_branch', 'main'],
    ['origin/$(id)', 'remote_branch', 'main'],
    ['light', 'tag', 'main'],
    ['heavy', 'tag', 'topic/one'],
    ['tags/heavy', 'tag', 'topic/one'],
    ['refs/tags/light', 'tag', 'main'],
    ['0123456789abcdef', 'commit_id', 'main'],
  ])('is reported when the base %s is a %s, with %s as the suggestion', async (base, kind, likely) => {
    const error = await failure(manyNames, base);
    expect(error.details).toMatchObject({ problem: 'no_such_branch', base, base_is: kind, likely });
    expect(error.message).toContain(base);
    expect(error.nextStep).toContain('`workspace.base`');
    expect(error.nextStep).toContain(likely);
  });

  it.each(['short', 'whole', 'upper case'])(
    'is reported with the branch at a commit that is the base: %s',
    async (form) => {
      const folder = scratchFolder();
      const source = path.join(folder, 'source');
      manyNames(source);
      const id = git(source, 'rev-parse', 'topic/one');
      const base = form === 'short' ? id.slice(0, 7) : form === 'whole' ? id : id.toUpperCase();
      const error = await rejection(make(scratchCheckouts(folder, source, { base }), 'T-1'));
      expect(error.details).toMatchObject({ problem: 'no_such_branch', base_is: 'commit_id', likely: 'topic/one' });
      expect(error.nextStep).toContain('topic/one');
    },
  );

  it.each([
    ['seen', 'git branch seen origin/seen'],
    ['origin/seen', 'git branch seen origin/seen'],
    ['mine/deep/seen', 'git branch deep/seen mine/deep/seen'],
  ])('is reported with a command for the base %s that exists only on a remote', async (base, command) => {
    const error = await failure(manyNames, base);
    expect(error.nextStep).toContain(`\`${command}\``);
    git(path.join(String(error.details.repository)), ...command.split(' ').slice(1));
  });

  it('suggests no command with a name that a shell would interpret', async () => {
    expect((await failure(manyNames, '$(id)')).nextStep).not.toContain('git branch');
  });

  it('is reported when no base is set and its HEAD is detached', async () => {
    const error = await failure((source) => git(scratchRepository(source), 'checkout', '-q', '--detach'));
    expect(error.details).toMatchObject({ problem: 'detached_head', likely: 'main' });
    expect(error.nextStep).toContain('`workspace.base`');
    expect(error.nextStep).toContain('main');
  });

  it.each([null, 'main', 'origin/main'])('is reported when it has no commit yet, with the base %s', async (base) => {
    const error = await failure((source) => {
      mkdirSync(source);
      git(source, 'init', '-q');
    }, base);
    expect(error.details).toMatchObject({ problem: 'no_commit' });
    expect(error.nextStep).toContain('git commit');
  });

  it('is reported when only the branch of its HEAD has no commit', async () => {
    const error = await failure((source) => git(scratchRepository(source), 'symbolic-ref', 'HEAD', 'refs/heads/new'));
    expect(error.details).toMatchObject({ problem: 'unborn_head', likely: 'main' });
    expect(error.nextStep).toContain('main');
  });

  it('is reported when its history is cut off', async () => {
    const error = await failure((source) => {
      const whole = scratchRepository(`${source}-whole`);
      commit(whole, { 'b.txt': 'x\n' });
      git(path.dirname(source), 'clone', '-q', '--depth=1', `file://${whole}`, source);
    });
    expect(error.details).toMatchObject({ problem: 'shallow' });
    expect(error.nextStep).toContain('--unshallow');
  });

  it('is reported without the password of its address', async () => {
    const folder = scratchFolder();
    const shown = 'http://127.0.0.1:1/x.git';
    const location = 'http://me:hunter2@127.0.0.1:1/x.git';
    const scratch = scratchCheckouts(folder, location, { repo: { location, shown, isLocal: false }, copyFrom: folder });
    const error = await rejection(make(scratch, 'T-1'));
    expect(error.code).toBe('repository_unavailable');
    expect(JSON.stringify([error.toJSON(), error.message, scratch.logger.lines])).not.toContain('hunter2');
  });

  it.each([
    ["fatal: detected dubious ownership in repository at '/srv/x'", 'other_owner', 'safe.directory'],
    ["fatal: could not read Username for 'https://h': terminal prompts disabled", 'access_denied', 'git ls-remote'],
    ['git@h: Permission denied (publickey).', 'access_denied', 'git ls-remote'],
    ['fatal: unable to access: Could not resolve host: h', 'unreachable', 'workspace.repo'],
    ['fatal: Could not read from remote repository.', 'unreadable', 'workspace.repo'],
    ["fatal: repository 'https://h/x/' not found", 'not_a_repository', 'workspace.repo'],
    ['fatal: something new', 'unreadable', 'workspace.repo'],
  ])('has a named problem when git says %s', async (stderr, problem, nextStep) => {
    const folder = scratchFolder();
    const location = 'https://h/x';
    const scratch = scratchCheckouts(folder, location, {
      repo: { location, shown: location, isLocal: false },
      copyFrom: folder,
      git: (real) => ({ run: real.run, ask: async () => ({ code: 128, stdout: '', stderr }) }),
    });
    const error = await rejection(make(scratch, 'T-1'));
    expect(error).toMatchObject({ code: 'repository_unavailable', details: { problem } });
    expect(error.message).toContain(stderr);
    expect(error.nextStep).toContain(nextStep);
  });

  it('fails the start instead of using an old base', async () => {
    const scratch = scene();
    await make(scratch, 'T-1');
    renameSync(scratch.source, `${scratch.source}-moved`);
    expect((await rejection(make(scratch, 'T-2'))).code).toBe('repository_unavailable');
  });
});

describe('the cache of a source', () => {
  it('has neither the location nor anything of the person in its files', async () => {
    const folder = scratchFolder();
    const source = scratchRepository(path.join(folder, 'source'));
    const location = `file://${source}`;
    const repo = { location, shown: 'https://host.invalid/x', isLocal: false };
    const scratch = scratchCheckouts(folder, location, { repo, copyFrom: folder });
    await make(scratch, 'T-1');
    const cache = cacheIn(scratch);
    for (const name of readdirSync(cache, { recursive: true, encoding: 'utf8' })) {
      const file = path.join(cache, name);
      if (statSync(file).isFile()) expect(readFileSync(file, 'latin1')).not.toContain(source);
    }
    expect(git(scratch.workspace('T-1'), 'remote', 'get-url', 'origin')).toBe('https://host.invalid/x');
  });

  it('follows a base whose history was rewritten, and checkouts of the old one stay complete', async () => {
    const scratch = scene();
    const { source, workspace } = scratch;
    commit(source, { 'old.txt': 'old\n' });
    await make(scratch, 'T-1');
    git(source, 'reset', '-q', '--hard', 'HEAD~1');
    const rewritten = commit(source, { 'new.txt': 'new\n' });
    git(source, 'reflog', 'expire', '--expire=now', '--all');
    git(source, 'gc', '-q', '--prune=now');
    await make(scratch, 'T-2');
    expect(git(workspace('T-2'), 'rev-parse', 'HEAD')).toBe(rewritten);
    expect(git(workspace('T-1'), 'show', 'HEAD:old.txt')).toBe('old');
    expect(git(workspace('T-1'), 'fsck', '--full', '--no-dangling')).toBe('');
  });

  it('follows a branch that becomes a folder of branches', async () => {
    const scratch = scene();
    const { source, checkouts, workspace } = scratch;
    git(source, 'branch', 'topic');
    await checkouts.make({ workspace: workspace('T-1'), branch: 'topic' });
    git(source, 'branch', '-q', '-D', 'topic');
    git(source, 'branch', 'topic/one');
    await checkouts.make({ workspace: workspace('T-2'), branch: 'topic/one' });
    expect(git(workspace('T-2'), 'branch', '--show-current')).toBe('topic/one');
  });

  it('is freed from locks and unfinished files of a killed daemon', async () => {
    const scratch = scene();
    await make(scratch, 'T-1');
    const cache = cacheIn(scratch);
    const references = readdirSync(path.join(cache, 'refs/baton'));
    for (const name of references) writeFileSync(path.join(cache, 'refs/baton', `${name}.lock`), '');
    for (const name of ['packed-refs.lock', 'shallow.lock', 'objects/pack/tmp_pack_abcdef', 'objects/tmp_objdir-x']) {
      writeFileSync(path.join(cache, name), 'unfinished');
    }
    const newer = commit(scratch.source, { 'b.txt': 'x\n' });
    await make(scratch, 'T-2');
    expect(git(scratch.workspace('T-2'), 'rev-parse', 'HEAD')).toBe(newer);
    const left = readdirSync(cache, { recursive: true, encoding: 'utf8' });
    expect(left.filter((name) => /\.lock$|tmp_/.test(name))).toEqual([]);
  });

  it('is created again when it was left half-made', async () => {
    const scratch = scene();
    await make(scratch, 'T-1');
    const cache = cacheIn(scratch);
    renameSync(cache, `${cache}+making`);
    rmSync(path.join(`${cache}+making`, 'HEAD'));
    await make(scratch, 'T-2');
    expect(git(scratch.workspace('T-2'), 'status', '--porcelain')).toBe('');
    expect(readdirSync(scratch.places.caches)).toEqual([path.basename(cache)]);
  });

  it.each([
    ['has no HEAD', (cache: string) => rmSync(path.join(cache, 'HEAD'))],
    ['has no references', (cache: string) => rmSync(path.join(cache, 'refs'), { recursive: true })],
    ['has an empty configuration', (cache: string) => writeFileSync(path.join(cache, 'config'), '')],
    ['has empty references', emptyReferences],
    ['has a cut pack', (cache: string) => truncateSync(packIn(cache), 40)],
    ['has lost its pack', (cache: string) => rmSync(packIn(cache))],
    ['has garbage for its pack', (cache: string) => spoil(packIn(cache))],
  ])('is moved aside and created again when it %s, also without anything to fetch', async (_what, damage) => {
    const scratch = scene();
    await make(scratch, 'T-1');
    const cache = cacheIn(scratch);
    damage(cache);
    await make(scratch, 'T-2');
    expect(git(scratch.workspace('T-2'), 'status', '--porcelain')).toBe('');
    expect(git(scratch.workspace('T-1'), 'status', '--porcelain')).toBe('');
    expect(scratch.logger.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
    const newer = commit(scratch.source, { 'b.txt': 'x\n' });
    await make(scratch, 'T-3');
    expect(git(scratch.workspace('T-3'), 'rev-parse', 'HEAD')).toBe(newer);
    expect(scratch.logger.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
  });

  it('still lends objects that the source has dropped, when it is damaged', async () => {
    const scratch = scene();
    const { source, workspace } = scratch;
    commit(source, { 'old.txt': 'old\n' });
    await make(scratch, 'T-1');
    git(source, 'reset', '-q', '--hard', 'HEAD~1');
    git(source, 'reflog', 'expire', '--expire=now', '--all');
    git(source, 'gc', '-q', '--prune=now');
    rmSync(path.join(cacheIn(scratch), 'HEAD'));
    await make(scratch, 'T-2');
    expect(git(workspace('T-1'), 'show', 'HEAD:old.txt')).toBe('old');
    rmSync(path.join(cacheIn(scratch), 'HEAD'));
    await make(scratch, 'T-3');
    expect(git(workspace('T-1'), 'show', 'HEAD:old.txt')).toBe('old');
    expect(git(workspace('T-1'), 'fsck', '--full', '--no-dangling')).toBe('');
  });

  it('is created again when the source has another object format', async () => {
    const scratch = scene();
    await make(scratch, 'T-1');
    rmSync(scratch.source, { recursive: true });
    scratchRepository(scratch.source, ['--object-format=sha256']);
    expect(await make(scratch, 'T-2')).toMatchObject({ objectFormat: 'sha256' });
    expect(git(scratch.workspace('T-2'), 'status', '--porcelain')).toBe('');
  });

  it('works below folders with unusual names', async () => {
    const folder = path.join(scratchFolder(), 'we"ird: #dir\\x é');
    mkdirSync(folder);
    const source = scratchRepository(path.join(folder, 'source'));
    const scratch = scratchCheckouts(folder, source);
    await make(scratch, 'T-1');
    rmSync(path.join(cacheIn(scratch), 'HEAD'));
    await make(scratch, 'T-2');
    const place = scratch.workspace('T-1');
    expect(git(place, 'remote', 'get-url', 'origin')).toBe(source);
    commit(place, { 'a.txt': 'x\n' });
    expect(await scratch.checkouts.publish(place)).toMatchObject({ outcome: 'published' });
  });

  it('is fetched for the others when one waiting caller gives up', async () => {
    const scratch = scene();
    const { checkouts, workspace } = scratch;
    const stop = new AbortController();
    const first = make(scratch, 'T-1');
    const quitter = checkouts.make({ workspace: workspace('T-2'), branch: 'b', signal: stop.signal });
    const third = make(scratch, 'T-3');
    stop.abort(new Error('not wanted any more'));
    await expect(quitter).rejects.toThrow('not wanted any more');
    await Promise.all([first, third]);
    expect(git(workspace('T-3'), 'status', '--porcelain')).toBe('');
  });

  it('is not fetched further when all waiting callers gave up, and works again after that', async () => {
    const scratch = scene();
    const { checkouts, workspace } = scratch;
    const stop = new AbortController();
    const quitter = checkouts.make({ workspace: workspace('T-1'), branch: 'b', signal: stop.signal });
    stop.abort(new Error('not wanted any more'));
    await expect(quitter).rejects.toThrow('not wanted any more');
    await make(scratch, 'T-2');
    expect(git(workspace('T-2'), 'status', '--porcelain')).toBe('');
  });

  it('returns the requested branches to each of many callers, read after its request', async () => {
    const scratch = scene();
    const { source, workspace } = scratch;
    const first = make(scratch, 'T-1');
    const newer = commit(source, { 'b.txt': 'x\n' });
    const others = Promise.all(['T-2', 'T-3', 'T-4'].map((name) => make(scratch, name)));
    await Promise.all([first, others]);
    for (const name of ['T-2', 'T-3', 'T-4']) expect(git(workspace(name), 'rev-parse', 'HEAD')).toBe(newer);
  });
});

function emptyReferences(cache: string): void {
  const folder = path.join(cache, 'refs/baton');
  for (const name of readdirSync(folder)) writeFileSync(path.join(folder, name), '');
}

function spoil(file: string): void {
  const bytes = readFileSync(file);
  bytes.fill(0x5a, 20, bytes.length - 20);
  rmSync(file);
  writeFileSync(file, bytes);
}
