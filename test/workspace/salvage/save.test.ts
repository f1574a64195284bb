import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { rejection } from '../scratch-folder.ts';
import {
  contentsOf,
  gitIn,
  makeRepository,
  requestFor,
  salvageScene,
  savedBy,
  throughSalvage,
  write,
} from './salvage-scene.ts';

describe('saving a repository', () => {
  it('finds nothing in an empty workspace, or in one that has only the commits of its source', async () => {
    const { salvage, workspace, source } = salvageScene({ local: true });
    expect(await salvage.save(requestFor(workspace))).toEqual({ outcome: 'nothing' });
    makeRepository(source);
    rmSync(workspace, { recursive: true });
    gitIn(path.dirname(workspace), 'clone', '-q', source, workspace);
    expect(await salvage.save(requestFor(workspace))).toEqual({ outcome: 'nothing' });
    expect(gitIn(source, 'for-each-ref', 'refs/baton')).toBe('');
  });

  // @conforms F078
  it('puts changed, new, staged and deleted files into the local repository, and leaves its files and index unchanged', async () => {
    const { salvage, workspace, source } = salvageScene({ local: true });
    makeRepository(source, { 'a.txt': 'one\n', 'gone.txt': 'x', 'same.txt': 's' });
    rmSync(workspace, { recursive: true });
    gitIn(path.dirname(workspace), 'clone', '-q', source, workspace);
    write(workspace, { 'a.txt': 'two\n', 'new/b.txt': 'b', 'staged.txt': 'first' });
    gitIn(workspace, 'add', 'staged.txt');
    write(workspace, { 'staged.txt': 'second' });
    rmSync(path.join(workspace, 'gone.txt'));
    const before = gitIn(source, 'status', '--porcelain');

    const [work] = savedBy(await salvage.save(requestFor(workspace)));
    expect(work).toMatchObject({
      name: 'T-1/run-1',
      kind: 'commit',
      reference: 'refs/baton/salvage/T-1/run-1',
      files: 4,
      commits: 0,
      branch: 'main',
      head: gitIn(workspace, 'rev-parse', 'HEAD'),
    });
    expect(gitIn(source, 'show', 'refs/baton/salvage/T-1/run-1:staged.txt')).toBe('second');
    expect(gitIn(source, 'show', 'refs/baton/salvage/T-1/run-1^2:staged.txt')).toBe('first');
    expect(gitIn(source, 'status', '--porcelain')).toBe(before);
    gitIn(source, 'fsck', '--strict');
    const files = contentsOf(workspace);
    expect(contentsOf(await throughSalvage(salvage, workspace))).toEqual(files);
  });

  // @conforms F066
  it('saves commits, other branches, stashes and commits without a reference', async () => {
    const { salvage, workspace, source } = salvageScene({ local: true });
    makeRepository(source);
    rmSync(workspace, { recursive: true });
    gitIn(path.dirname(workspace), 'clone', '-q', source, workspace);
    const commit = (text: string): string => {
      write(workspace, { 'a.txt': text });
      gitIn(workspace, 'commit', '-qam', text);
      return gitIn(workspace, 'rev-parse', 'HEAD');
    };
    gitIn(workspace, 'checkout', '-qb', 'other');
    const other = commit('other');
    gitIn(workspace, 'checkout', '-q', 'main');
    const dropped = commit('dropped');
    gitIn(workspace, 'reset', '-q', '--hard', 'HEAD~1');
    const kept = commit('kept');
    write(workspace, { 'a.txt': 'stash one' });
    gitIn(workspace, 'stash');
    write(workspace, { 'a.txt': 'stash two' });
    gitIn(workspace, 'stash');
    gitIn(workspace, 'tag', '-a', '-m', 'tag', 'v1', other);
    const stashes = gitIn(workspace, 'stash', 'list', '--format=%H').split('\n');

    const [work] = savedBy(await salvage.save(requestFor(workspace)));
    const held = gitIn(source, 'rev-list', 'refs/baton/salvage/T-1/run-1').split('\n');
    expect(held).toEqual(expect.arrayContaining([other, dropped, kept, ...stashes]));
    expect(work?.files).toBe(0);
    const restored = await throughSalvage(salvage, workspace);
    expect(gitIn(restored, 'rev-parse', 'other', 'main', 'v1^{commit}')).toBe([other, kept, other].join('\n'));
    expect(gitIn(restored, 'stash', 'list', '--format=%H').split('\n')).toEqual(stashes);
    expect(gitIn(restored, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main');
    expect(gitIn(restored, 'status', '--porcelain')).toBe('');
    expect(gitIn(restored, 'config', 'remote.origin.url')).toBe(source);
    gitIn(restored, 'fsck', '--strict');
  });

  // @conforms git.21
  it('makes no second entry for the same work, but one for other work of the same run', async () => {
    const { salvage, workspace } = salvageScene();
    makeRepository(workspace);
    write(workspace, { 'new.txt': '1' });
    const [first] = savedBy(await salvage.save(requestFor(workspace)));
    expect(savedBy(await salvage.save(requestFor(workspace, { runId: 'run-2' })))).toEqual([first]);
    write(workspace, { 'new.txt': '2' });
    const [second] = savedBy(await salvage.save(requestFor(workspace)));
    expect(second?.name).toBe('T-1/run-1-2');
    expect((await salvage.list()).map(({ name }) => name).toSorted()).toEqual(['T-1/run-1', 'T-1/run-1-2']);
  });

  it('saves a renamed workspace under its original name', async () => {
    const { salvage, workspace } = salvageScene();
    makeRepository(workspace);
    const moved = path.join(path.dirname(workspace), '+removing+T-1');
    renameSync(workspace, moved);
    const [work] = savedBy(await salvage.save(requestFor(workspace, { folder: moved, runId: null })));
    expect(work).toMatchObject({ name: 'T-1/unknown', workspace, files: 0, commits: 1 });
  });

  it('leaves out ignored files, except tracked or added ones', async () => {
    const { salvage, workspace } = salvageScene();
    makeRepository(workspace, { '.gitignore': '*.log\n' });
    write(workspace, { 'tracked.log': 'old', 'added.log': 'a', 'ignored.log': 'i', 'excluded.txt': 'e' });
    gitIn(workspace, 'add', '-f', 'tracked.log');
    gitIn(workspace, 'commit', '-qm', 'more');
    gitIn(workspace, 'add', '-f', 'added.log');
    write(workspace, { 'tracked.log': 'new', '.git/info/exclude': 'excluded.txt\n' });
    const files = contentsOf(workspace);
    files.delete('ignored.log');
    expect(contentsOf(await throughSalvage(salvage, workspace))).toEqual(files);
  });

  it('saves files that index flags hide, and does not treat files of a sparse checkout as deleted', async () => {
    const { salvage, workspace } = salvageScene();
    makeRepository(workspace, { 'a.txt': '1', 'b.txt': '1', 'in/c.txt': '1', 'out/d.txt': '1' });
    gitIn(workspace, 'sparse-checkout', 'set', 'in');
    gitIn(workspace, 'update-index', '--assume-unchanged', 'a.txt');
    gitIn(workspace, 'update-index', '--skip-worktree', 'b.txt');
    write(workspace, { 'a.txt': '2', 'b.txt': '2' });
    const [work] = savedBy(await salvage.save(requestFor(workspace)));
    expect(work?.files).toBe(2);
    const restored = await throughSalvage(salvage, workspace);
    expect(contentsOf(restored)).toEqual(
      new Map([
        ['a.txt', 'file 2'],
        ['b.txt', 'file 2'],
        ['in/c.txt', 'file 1'],
        ['out/d.txt', 'file 1'],
      ]),
    );
  });

  it('saves bytes, not text: line ends, encodings, idents and filters change nothing', async () => {
    const { salvage, workspace } = salvageScene();
    makeRepository(workspace, {
      '.gitattributes': '*.txt text eol=crlf\n*.id ident\n*.u16 working-tree-encoding=UTF-16\n*.f filter=missing\n',
      'a.txt': 'a\n',
    });
    write(workspace, {
      'a.txt': 'mixed\r\nline\nends\r',
      'b.id': '$Id: something $',
      'c.u16': Buffer.from([0xff, 0xfe, 0x61, 0x00, 0x0d, 0x00]),
      'd.u16': Buffer.from([0xd8, 0x00, 0x01]),
      'e.f': 'x',
      'empty.txt': '',
    });
    const files = contentsOf(workspace);
    expect(contentsOf(await throughSalvage(salvage, workspace))).toEqual(files);
  });

  it('restores a file with its own line ends even if it matches HEAD and attributes ask for others', async () => {
    const { salvage, workspace } = salvageScene();
    makeRepository(workspace, { '.gitattributes': '*.txt eol=crlf\n', 'a.txt': 'a\nb\n', 'b.txt': 'b\n', c: 'c\n' });
    write(workspace, { c: 'changed\n', 'b.txt': 'b\r\n' });
    const files = contentsOf(workspace);
    const restored = await throughSalvage(salvage, workspace);
    expect(contentsOf(restored)).toEqual(files);
  });

  it('keeps names that are not valid UTF-8, links and executable files', async () => {
    const { salvage, workspace } = salvageScene();
    makeRepository(workspace);
    const odd = Buffer.concat([Buffer.from(`${workspace}/`), Buffer.from([0xff, 0x0a, 0x22, 0x5c, 0xe9])]);
    writeFileSync(odd, 'odd', { mode: 0o755 });
    write(workspace, { '-n': '1', 'sp ace\n\t"': '2', ':(exclude)a.txt': '3', '*': '4' });
    symlinkSync('/nowhere/at/all', path.join(workspace, 'link'));
    const files = contentsOf(workspace);
    expect(contentsOf(await throughSalvage(salvage, workspace))).toEqual(files);
  });

  it('saves each nested repository under its own name, even if that is not text, and a folder that replaced a submodule', async () => {
    const { salvage, workspace } = salvageScene();
    makeRepository(workspace, { 'a.txt': '1', 'lib/tracked.log': 'old', 'lib/.gitignore': '*.log' });
    gitIn(workspace, 'add', '-f', 'lib/tracked.log');
    gitIn(workspace, 'commit', '-qm', 'log');
    makeRepository(path.join(workspace, 'was-nested'), { 'x.txt': 'x' });
    gitIn(workspace, 'add', 'was-nested');
    gitIn(workspace, 'commit', '-qm', 'link');
    rmSync(path.join(workspace, 'was-nested', '.git'), { recursive: true });
    gitIn(path.join(workspace, 'lib'), 'init', '-q');
    write(workspace, { 'lib/tracked.log': 'new', 'lib/inner.txt': 'i' });
    const odd = Buffer.concat([Buffer.from(`${workspace}/`), Buffer.from([0xff])]);
    makeRepository(path.join(workspace, 'odd'), { 'y.txt': 'y' });
    renameSync(path.join(workspace, 'odd'), odd);

    const works = savedBy(await salvage.save(requestFor(workspace)));
    expect(works.map(({ name, within }) => [name, within])).toEqual([
      ['T-1/run-1', ''],
      ['T-1/run-1+1', 'lib'],
      ['T-1/run-1+2', '\ufffd'],
    ]);
    const to = path.join(path.dirname(workspace), 'restored');
    for (const [index, work] of works.entries()) await salvage.restore(work, `${to}-${index}`);
    expect(contentsOf(`${to}-0`).get('was-nested/x.txt')).toBe('file x');
    expect(contentsOf(`${to}-1`).get('tracked.log')).toBe('file new');
    expect(contentsOf(`${to}-1`).get('inner.txt')).toBe('file i');
    expect(contentsOf(`${to}-2`).get('y.txt')).toBe('file y');
  });

  it('saves a repository without a commit, with a detached HEAD, in the middle of a merge, and with SHA-256', async () => {
    for (const state of ['unborn', 'detached', 'merge', 'sha256'] as const) {
      const { salvage, workspace } = salvageScene();
      if (state === 'unborn') gitIn(workspace, 'init', '-q', '-b', 'main');
      else makeRepository(workspace, { 'a.txt': 'one\n' }, ...(state === 'sha256' ? ['--object-format=sha256'] : []));
      if (state === 'detached') gitIn(workspace, 'checkout', '-q', '--detach');
      if (state === 'merge') {
        gitIn(workspace, 'checkout', '-qb', 'side');
        write(workspace, { 'a.txt': 'side\n' });
        gitIn(workspace, 'commit', '-qam', 'side');
        gitIn(workspace, 'checkout', '-q', 'main');
        write(workspace, { 'a.txt': 'main\n' });
        gitIn(workspace, 'commit', '-qam', 'main');
        expect(() => gitIn(workspace, 'merge', 'side')).toThrow();
      }
      write(workspace, { 'b.txt': state });
      const files = contentsOf(workspace);
      const restored = await throughSalvage(salvage, workspace);
      expect(contentsOf(restored), state).toEqual(files);
      expect(gitIn(restored, 'status', '--porcelain'), state).toContain('?? b.txt');
    }
  });

  it('saves a shallow clone whose history is nowhere else, and recognizes parents that are only declared missing', async () => {
    const { salvage, workspace, source } = salvageScene();
    makeRepository(source);
    write(source, { 'a.txt': 'two' });
    gitIn(source, 'commit', '-qam', 'second');
    rmSync(workspace, { recursive: true });
    gitIn(path.dirname(workspace), 'clone', '-q', '--depth=1', `file://${source}`, workspace);
    write(workspace, { 'b.txt': 'b' });
    const restored = await throughSalvage(salvage, workspace);
    expect(contentsOf(restored).get('b.txt')).toBe('file b');
    expect(gitIn(restored, 'log', '--format=%s')).toBe('second');

    const liar = salvageScene();
    makeRepository(liar.workspace);
    write(liar.workspace, { 'a.txt': 'two' });
    gitIn(liar.workspace, 'commit', '-qam', 'second');
    write(liar.workspace, { '.git/shallow': `${gitIn(liar.workspace, 'rev-parse', 'HEAD')}\n` });
    expect(gitIn(await throughSalvage(liar.salvage, liar.workspace), 'log', '--format=%s')).toBe('second\nfirst');
  });

  it('does not save the same fetched history again for each clone', async () => {
    const { salvage, workspace, source } = salvageScene();
    makeRepository(source);
    rmSync(workspace, { recursive: true });
    gitIn(path.dirname(workspace), 'clone', '-q', source, workspace);
    expect((await salvage.save(requestFor(workspace))).outcome).toBe('saved');
    const other = `${workspace}-other`;
    gitIn(path.dirname(workspace), 'clone', '-q', source, other);
    expect(await salvage.save(requestFor(other))).toEqual({ outcome: 'nothing' });
    write(other, { 'a.txt': 'own' });
    gitIn(other, 'commit', '-qam', 'own');
    expect(savedBy(await salvage.save(requestFor(other)))).toMatchObject([{ commits: 1 }]);
  });

  it('keeps text of an issue as data', async () => {
    const { salvage, workspace, places } = salvageScene();
    makeRepository(workspace);
    const title = 'a\n\nBaton-Saved: {"evil":1}\u001b[31m\u0000\ud800"\\ $(touch x)';
    const issue = { id: 'i\n1', identifier: '../T 1', title };
    const [work] = savedBy(await salvage.save(requestFor(workspace, { issue, runId: '../x.lock' })));
    expect(work).toMatchObject({ issueTitle: title, issueId: 'i\n1', issueIdentifier: '../T 1' });
    expect(await salvage.find('../t 1')).toEqual(work);
    expect(gitIn(places.salvage, 'log', '-1', '--format=%B', work?.commit ?? '')).not.toContain('\u001b');
  });

  it('saves any number of branches', async () => {
    const { salvage, workspace } = salvageScene();
    makeRepository(workspace);
    const tree = gitIn(workspace, 'rev-parse', 'HEAD^{tree}');
    const lines = ['# pack-refs with: peeled fully-peeled sorted '];
    const names = Array.from({ length: 1_100 }, (_, n) => `refs/heads/b${n}`).toSorted();
    const texts = names.map((_name, n) => {
      write(workspace, {
        [`.git/c${n}`]: `tree ${tree}\nauthor A <a@b> ${n} +0000\ncommitter A <a@b> ${n} +0000\n\nx\n`,
      });
      return `.git/c${n}`;
    });
    const made = gitIn(workspace, 'hash-object', '-t', 'commit', '-w', ...texts).split('\n');
    for (const [n, name] of names.entries()) lines.push(`${made[n]} ${name}`);
    write(workspace, { '.git/packed-refs': `${lines.join('\n')}\n` });
    const [work] = savedBy(await salvage.save(requestFor(workspace)));
    expect(work?.commits).toBe(1_101);
    const restored = await throughSalvage(salvage, workspace);
    expect(gitIn(restored, 'for-each-ref', 'refs/heads/b*').split('\n')).toHaveLength(1_100);
  }, 60_000);

  it('saves submodules whose files were removed', async () => {
    const { salvage, workspace, folder } = salvageScene();
    const library = path.join(folder, 'library');
    makeRepository(library);
    makeRepository(workspace);
    gitIn(workspace, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', library, 'lib');
    gitIn(workspace, 'commit', '-qm', 'lib');
    write(workspace, { 'lib/a.txt': 'mine' });
    gitIn(path.join(workspace, 'lib'), 'commit', '-qam', 'mine');
    const mine = gitIn(path.join(workspace, 'lib'), 'rev-parse', 'HEAD');
    gitIn(workspace, 'submodule', 'deinit', '-q', '-f', 'lib');
    const works = savedBy(await salvage.save(requestFor(workspace)));
    expect(works.at(-1)).toMatchObject({ within: '.git/modules/lib', head: mine });
  });
});

describe('work that cannot be saved completely', () => {
  const refused = async (spoil: (workspace: string) => void): Promise<string> => {
    const { salvage, workspace } = salvageScene();
    makeRepository(workspace);
    write(workspace, { 'a.txt': 'two' });
    spoil(workspace);
    const before = contentsOf(workspace);
    const error = await rejection(salvage.save(requestFor(workspace)));
    expect(error.code).toBe('salvage_failed');
    expect(contentsOf(workspace)).toEqual(before);
    expect(await salvage.list()).toEqual([]);
    return error.message;
  };

  it('is kept when .git is a link, a strange file, or written in another case', async () => {
    await refused((workspace) => {
      renameSync(path.join(workspace, '.git'), `${workspace}-git`);
      symlinkSync(`${workspace}-git`, path.join(workspace, '.git'));
    });
    await refused((workspace) => write(workspace, { 'sub/.git': 'nonsense' }));
    await refused((workspace) => mkdirSync(path.join(workspace, 'sub', '.GIT'), { recursive: true }));
  });

  // @conforms git.22
  it('is kept when HEAD, a branch or its history is broken', async () => {
    const objectFile = (workspace: string, id: string): string =>
      path.join(workspace, '.git', 'objects', id.slice(0, 2), id.slice(2));
    await refused((workspace) => rmSync(objectFile(workspace, gitIn(workspace, 'rev-parse', 'HEAD'))));
    await refused((workspace) => {
      gitIn(workspace, 'checkout', '-q', '-b', 'x');
      gitIn(workspace, 'commit', '-qam', 'x');
      const id = gitIn(workspace, 'rev-parse', 'HEAD');
      gitIn(workspace, 'checkout', '-q', 'main');
      rmSync(objectFile(workspace, id));
      writeFileSync(objectFile(workspace, id), 'garbage');
    });
    await refused((workspace) => {
      gitIn(workspace, 'commit', '-qam', 'second');
      rmSync(objectFile(workspace, gitIn(workspace, 'rev-parse', 'HEAD~1')));
    });
  });

  // @conforms git.23
  it('is kept when an object does not match its id', async () => {
    await refused((workspace) => {
      write(workspace, { 'b.txt': 'honest content' });
      gitIn(workspace, 'add', 'b.txt');
      gitIn(workspace, 'commit', '-qm', 'b');
      const [honest, other] = [
        gitIn(workspace, 'rev-parse', 'HEAD:b.txt'),
        gitIn(workspace, 'rev-parse', 'HEAD:a.txt'),
      ];
      const fileOf = (id: string): string => path.join(workspace, '.git', 'objects', id.slice(0, 2), id.slice(2));
      rmSync(fileOf(honest));
      renameSync(fileOf(other), fileOf(honest));
      write(workspace, { 'c.txt': 'c' });
    });
  });

  it('is saved without a branch whose object is missing, which is reported', async () => {
    const { salvage, workspace, logger } = salvageScene();
    makeRepository(workspace);
    write(workspace, { '.git/refs/heads/lost': `${'1'.repeat(40)}\n`, 'b.txt': 'b' });
    expect((await salvage.save(requestFor(workspace))).outcome).toBe('saved');
    expect(logger.events()).toContain('refs_point_nowhere');
  });
});
