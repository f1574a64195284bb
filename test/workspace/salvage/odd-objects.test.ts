import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { BatonError } from '../../../src/core/baton-error.ts';
import { objectsIn } from '../../../src/workspace/salvage/saved-commits.ts';
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

/** Writes an object with these bytes, even a malformed one. */
function object(workspace: string, type: string, content: string | Uint8Array): string {
  return execFileSync('git', ['hash-object', '-t', type, '-w', '--literally', '--stdin'], {
    cwd: workspace,
    input: content,
    encoding: 'utf8',
  }).trim();
}

function tree(workspace: string, entries: readonly (readonly [mode: string, name: string, id: string])[]): string {
  const bytes = entries.map(([mode, name, id]) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]),
  );
  return object(workspace, 'tree', Buffer.concat(bytes));
}

/** The packs of a repository that the agent made. */
function packsOf(workspace: string, ending: string): string[] {
  const packs = path.join(workspace, '.git', 'objects', 'pack');
  const names = readdirSync(packs).filter((name) => name.endsWith(ending));
  return names.map((name) => path.join(packs, name));
}

async function keptWith(salvage: ReturnType<typeof salvageScene>['salvage'], workspace: string): Promise<BatonError> {
  const error = await rejection(salvage.save(requestFor(workspace)));
  expect(error.code).toBe('salvage_failed');
  expect(await salvage.list()).toEqual([]);
  return error;
}

describe('the object of a reference', () => {
  it('is saved when it is a file or a tree in a pack', async () => {
    const { salvage, workspace } = salvageScene();
    makeRepository(workspace);
    const blob = object(workspace, 'blob', 'PRECIOUS');
    const other = object(workspace, 'blob', 'in a tree');
    const folder = tree(workspace, [['100644', 'x', other]]);
    gitIn(workspace, 'update-ref', 'refs/data/precious', blob);
    gitIn(workspace, 'update-ref', 'refs/data/folder', folder);
    gitIn(workspace, 'gc', '-q');
    const restored = await throughSalvage(salvage, workspace);
    expect(gitIn(restored, 'cat-file', '-p', 'refs/data/precious')).toBe('PRECIOUS');
    expect(gitIn(restored, 'cat-file', '-p', 'refs/data/folder:x')).toBe('in a tree');
  });

  it('is saved alone, and not again as a second entry', async () => {
    const { salvage, workspace, source } = salvageScene({ local: true });
    makeRepository(source);
    rmSync(workspace, { recursive: true });
    gitIn(path.dirname(workspace), 'clone', '-q', source, workspace);
    gitIn(workspace, 'tag', '-a', 'v1', '-m', 'notes that nobody else has');
    const works = savedBy(await salvage.save(requestFor(workspace)));
    expect(works).toMatchObject([{ files: 0, commits: 0 }]);
    expect(savedBy(await salvage.save(requestFor(workspace)))).toEqual(works);
    gitIn(workspace, 'gc', '-q');
    expect(savedBy(await salvage.save(requestFor(workspace)))).toEqual(works);
    gitIn(source, 'fetch', '-q', workspace, 'refs/tags/v1:refs/tags/v1');
    gitIn(source, 'update-ref', '-d', 'refs/baton/salvage/T-1/run-1');
    expect(await salvage.save(requestFor(workspace))).toEqual({ outcome: 'nothing' });
  });

  it('is saved also when the target repository wants small packs', async () => {
    const { salvage, workspace, source } = salvageScene({ local: true });
    makeRepository(source);
    gitIn(source, 'config', 'pack.packSizeLimit', '1m');
    rmSync(workspace, { recursive: true });
    gitIn(path.dirname(workspace), 'clone', '-q', source, workspace);
    for (const name of ['one', 'two']) {
      const bytes = randomBytes(900_000);
      write(workspace, { [name]: bytes });
      gitIn(workspace, 'update-ref', `refs/data/${name}`, object(workspace, 'blob', Buffer.concat([bytes, bytes])));
    }
    const restored = await throughSalvage(salvage, workspace);
    expect(gitIn(restored, 'cat-file', '-s', 'refs/data/two')).toBe('1800000');
  });

  it('is not saved again for each clone when it is a tag of the source', async () => {
    const { salvage, workspace, source } = salvageScene();
    makeRepository(source);
    gitIn(source, 'tag', '-a', 'v1', '-m', 'of the source');
    for (const [name, outcome] of [
      ['one', 'saved'],
      ['two', 'nothing'],
    ] as const) {
      gitIn(path.dirname(workspace), 'clone', '-q', source, `${workspace}-${name}`);
      expect((await salvage.save(requestFor(`${workspace}-${name}`))).outcome).toBe(outcome);
    }
    write(`${workspace}-one`, { 'b.txt': 'new' });
    const works = savedBy(await salvage.save(requestFor(`${workspace}-one`)));
    expect(savedBy(await salvage.save(requestFor(`${workspace}-one`)))).toEqual(works);
    gitIn(`${workspace}-two`, 'tag', '-a', 'v2', '-m', 'its own');
    expect((await salvage.save(requestFor(`${workspace}-two`))).outcome).toBe('saved');
  });

  it('is restored with its name when it is a tag that the local repository has', async () => {
    const { salvage, workspace, source } = salvageScene({ local: true });
    makeRepository(source);
    gitIn(source, 'tag', '-a', 'v1', '-m', 'of the source');
    rmSync(workspace, { recursive: true });
    gitIn(path.dirname(workspace), 'clone', '-q', source, workspace);
    write(workspace, { 'b.txt': 'new' });
    const restored = await throughSalvage(salvage, workspace);
    expect(gitIn(restored, 'rev-parse', 'refs/tags/v1')).toBe(gitIn(source, 'rev-parse', 'refs/tags/v1'));
  });

  it('is restored byte by byte when it is a tag, also a tag of a tag and one of a file', async () => {
    const { salvage, workspace } = salvageScene();
    makeRepository(workspace);
    gitIn(workspace, 'tag', '-a', 'v1', '-m', 'release notes');
    gitIn(workspace, 'tag', '-a', 'v2', '-m', 'of a tag', 'v1');
    gitIn(workspace, 'tag', '-a', 'v3', '-m', 'of a file', 'HEAD:a.txt');
    const head = gitIn(workspace, 'rev-parse', 'HEAD');
    const text = `object ${head}\ntype commit\ntag odd\ntagger A <a@b> 1 +0000\n\n\xff\xe9\0\r\n`;
    const odd = object(workspace, 'tag', Buffer.from(text, 'latin1'));
    gitIn(workspace, 'update-ref', 'refs/tags/odd', odd);
    const names = ['refs/tags/v1', 'refs/tags/v2', 'refs/tags/v3', 'refs/tags/odd'];
    const ids = gitIn(workspace, 'rev-parse', ...names);
    const restored = await throughSalvage(salvage, workspace);
    expect(gitIn(restored, 'rev-parse', ...names)).toBe(ids);
    expect(gitIn(restored, 'cat-file', '-t', 'v1')).toBe('tag');
    expect(gitIn(restored, 'cat-file', 'tag', 'v1')).toContain('release notes');
  });

  // @conforms git.37
  it('is not lost while a pack cannot be read', async () => {
    const spoilt: readonly ((workspace: string) => void)[] = [
      (workspace) => {
        for (const file of packsOf(workspace, '.idx')) {
          chmodSync(file, 0o644);
          writeFileSync(file, '');
        }
      },
      (workspace) => {
        for (const file of packsOf(workspace, '.idx')) rmSync(file);
      },
      (workspace) => {
        for (const file of packsOf(workspace, '.pack')) {
          chmodSync(file, 0o644);
          const bytes = readFileSync(file);
          writeFileSync(file, bytes.fill(0, 12, bytes.length - 20));
        }
      },
      (workspace) => {
        for (const file of packsOf(workspace, '.idx')) {
          chmodSync(file, 0o644);
          writeFileSync(file, readFileSync(file).subarray(0, 1_050));
        }
      },
    ];
    for (const spoil of spoilt) {
      const { salvage, workspace } = salvageScene();
      makeRepository(workspace);
      const loose = path.join(workspace, '.git', 'objects');
      renameSync(loose, `${workspace}-first`);
      gitIn(path.dirname(workspace), 'init', '-q', '--bare', 'empty');
      renameSync(path.join(workspace, '..', 'empty', 'objects'), loose);
      write(workspace, { '.git/objects/info/alternates': `${workspace}-first\n` });
      gitIn(workspace, 'checkout', '-qb', 'feature');
      write(workspace, { 'f.txt': 'FEATURE' });
      gitIn(workspace, 'add', '-A');
      gitIn(workspace, 'commit', '-qm', 'feature');
      gitIn(workspace, 'checkout', '-q', 'main');
      gitIn(workspace, 'repack', '-adlq');
      rmSync(path.join(workspace, '.git', 'objects', 'info', 'alternates'));
      execFileSync('cp', ['-r', `${workspace}-first/.`, loose]);
      rmSync(path.join(workspace, '.git', 'logs'), { recursive: true });
      write(workspace, { 'b.txt': 'new' });
      spoil(workspace);
      await keptWith(salvage, workspace);
    }
  });
});

describe("the agent's index", () => {
  it('keeps the workspace when it is broken: only it knows ignored files that were added', async () => {
    for (const spoil of [
      (bytes: Buffer) => bytes.subarray(0, bytes.length - 7),
      (bytes: Buffer) => Buffer.alloc(bytes.length),
      () => Buffer.alloc(0),
    ]) {
      const { salvage, workspace } = salvageScene();
      makeRepository(workspace, { '.gitignore': 'out/\n' });
      write(workspace, { 'out/report.md': 'WANTED' });
      gitIn(workspace, 'add', '-f', 'out/report.md');
      const index = path.join(workspace, '.git', 'index');
      writeFileSync(index, spoil(readFileSync(index)));
      expect(await keptWith(salvage, workspace)).toMatchObject({ details: { problem: 'index_unreadable' } });
    }
  });

  it('is not read by git when it names a whole folder: a few hundred bytes can be millions of files', async () => {
    const calls: string[] = [];
    const { salvage, workspace } = salvageScene({
      around: (git) => ({
        run: (call) => git.run(call),
        ask: (call) => {
          calls.push(call.args[0] ?? '');
          return git.ask(call);
        },
      }),
    });
    makeRepository(workspace, { 'a.txt': 'one\n', 'd/f': '1' });
    let [mode, id] = ['100644', gitIn(workspace, 'rev-parse', 'HEAD:a.txt')];
    for (let depth = 0; depth < 8; depth += 1) {
      id = tree(
        workspace,
        Array.from({ length: 10 }, (_, n) => [mode, `f${n}`, id] as const),
      );
      mode = '40000';
    }
    gitIn(workspace, 'sparse-checkout', 'init', '--cone', '--sparse-index');
    const index = path.join(workspace, '.git', 'index');
    const bytes = readFileSync(index);
    const at = bytes.indexOf(Buffer.from(gitIn(workspace, 'rev-parse', 'HEAD:d'), 'hex'));
    expect(at).toBeGreaterThan(0);
    Buffer.from(id, 'hex').copy(bytes, at);
    const body = bytes.subarray(0, bytes.length - 20);
    writeFileSync(index, Buffer.concat([body, createHash('sha1').update(body).digest()]));
    expect(await keptWith(salvage, workspace)).toMatchObject({
      details: { problem: 'sparse_index' },
      message: expect.stringContaining('git sparse-checkout reapply --no-sparse-index'),
    });
    expect(calls).not.toContain('ls-files');
  });

  it('restores staged files and each side of a conflict in the middle of a merge', async () => {
    const { salvage, workspace, places } = salvageScene();
    makeRepository(workspace, { x: '1\n', y: '1\n' });
    gitIn(workspace, 'checkout', '-qb', 'other');
    write(workspace, { y: '2\n' });
    gitIn(workspace, 'commit', '-qam', 'other');
    gitIn(workspace, 'checkout', '-q', 'main');
    write(workspace, { y: '3\n' });
    gitIn(workspace, 'commit', '-qam', 'main');
    expect(() => gitIn(workspace, 'merge', 'other')).toThrow();
    write(workspace, { x: 'STAGED ONLY\n' });
    gitIn(workspace, 'add', 'x');
    // A side of the conflict that is in no commit.
    const side = object(workspace, 'blob', 'side');
    execFileSync('git', ['update-index', '--index-info'], { cwd: workspace, input: `100644 ${side} 1\ty\n` });
    write(workspace, { x: 'file\n' });
    const before = readFileSync(path.join(workspace, '.git', 'index'));
    const [work] = savedBy(await salvage.save(requestFor(workspace)));
    expect(readFileSync(path.join(workspace, '.git', 'index')).equals(before)).toBe(true);
    const status = gitIn(workspace, 'status', '--porcelain');
    const unmerged = gitIn(workspace, 'ls-files', '-u');
    gitIn(places.salvage, 'gc', '-q', '--prune=now');
    const restored = await throughSalvage(salvage, workspace);
    expect(gitIn(restored, 'show', ':x')).toBe('STAGED ONLY');
    expect(gitIn(restored, 'ls-files', '-u')).toBe(unmerged);
    expect(gitIn(restored, 'show', ':1:y')).toBe('side');
    expect(gitIn(restored, 'status', '--porcelain')).toBe(status);
    expect(readFileSync(path.join(restored, 'x'), 'utf8')).toBe('file\n');
    expect(work?.name).toBe('T-1/run-1');
  });
});

describe('files next to the repositories of a workspace', () => {
  const scene = (archive: boolean) => {
    const made = salvageScene({ archive });
    makeRepository(path.join(made.workspace, 'deep', 'repo'));
    write(made.workspace, { 'plan.md': 'three hours of thinking\n', 'deep/n\n.txt': 'y', 'deep/repo/b.txt': 'new' });
    return made;
  };

  // @conforms git.38
  it('keep the workspace, and the reason says how to save them', async () => {
    const { salvage, workspace } = scene(false);
    expect(await keptWith(salvage, workspace)).toMatchObject({
      details: { problem: 'files_beside_repositories' },
      message: expect.stringContaining('workspace.archive: true'),
    });
  });

  it('are saved once as an archive next to the repositories if the settings say so', async () => {
    const { salvage, workspace, folder } = scene(true);
    const works = savedBy(await salvage.save(requestFor(workspace)));
    expect(works.map(({ name, kind }) => [name, kind])).toEqual([
      ['T-1/run-1', 'commit'],
      ['T-1/run-1+files', 'archive'],
    ]);
    expect(savedBy(await salvage.save(requestFor(workspace)))).toEqual(works);
    expect((await salvage.find('T-1')).name).toBe('T-1/run-1');
    const files = contentsOf(workspace);
    rmSync(workspace, { recursive: true });
    await salvage.restore(await salvage.find('T-1/run-1+files'), path.join(folder, 'files'));
    await salvage.restore(await salvage.find('T-1/run-1'), path.join(folder, 'files', 'deep', 'repo'));
    expect(contentsOf(path.join(folder, 'files'))).toEqual(files);
  });

  it('do not exist if there are only folders on the way, or if the workspace itself is a repository', async () => {
    const nested = salvageScene();
    makeRepository(path.join(nested.workspace, 'deep', 'repo'));
    expect((await nested.salvage.save(requestFor(nested.workspace))).outcome).toBe('saved');
    const root = salvageScene();
    makeRepository(root.workspace);
    makeRepository(path.join(root.workspace, 'inner'));
    write(root.workspace, { 'plan.md': 'x' });
    expect(savedBy(await root.salvage.save(requestFor(root.workspace))).map(({ kind }) => kind)).toEqual([
      'commit',
      'commit',
    ]);
  });
});

describe('an entry of saved work', () => {
  // @conforms git.39
  it('with tens of thousands of long names hides no other, and restores all of them', async () => {
    const { salvage, workspace } = salvageScene();
    makeRepository(workspace);
    const head = gitIn(workspace, 'rev-parse', 'HEAD');
    const names = Array.from({ length: 20_000 }, (_, n) => `refs/x/${`${n}`.padStart(6, '0')}${'é'.repeat(100)}`);
    const lines = names.map((name) => `${head} ${name}\n`).join('');
    write(workspace, { '.git/packed-refs': `# pack-refs with: peeled fully-peeled sorted \n${lines}`, 'b.txt': 'b' });
    const works = savedBy(await salvage.save(requestFor(workspace)));
    expect(savedBy(await salvage.save(requestFor(workspace)))).toEqual(works);
    const { repository = '', commit = '' } = works[0] ?? {};
    expect(gitIn(repository, 'cat-file', 'commit', commit ?? '').length).toBeLessThan(100_000);
    const restored = await throughSalvage(salvage, workspace);
    expect(gitIn(restored, 'for-each-ref', 'refs/x').split('\n')).toHaveLength(20_000);
  }, 60_000);

  it('that is too long to be read hides no other', async () => {
    const { salvage, workspace, places, logger } = salvageScene();
    makeRepository(workspace);
    write(workspace, { 'b.txt': 'b' });
    const [work] = savedBy(await salvage.save(requestFor(workspace)));
    const text = gitIn(places.salvage, 'cat-file', 'commit', work?.commit ?? '');
    for (let number = 0; number < 3; number += 1) {
      const long = object(places.salvage, 'commit', `${text}\n${`${number}`.repeat(34 * 1024 * 1024)}\n`);
      gitIn(places.salvage, 'update-ref', `refs/baton/salvage/LONG-${number}/run`, long);
    }
    expect((await salvage.list()).map(({ name }) => name)).toEqual(['T-1/run-1']);
    expect(logger.events()).toContain('salvage_ref_foreign');
  }, 60_000);

  it('takes the next number when a lock with its name exists', async () => {
    const { salvage, workspace, source } = salvageScene({ local: true });
    makeRepository(source);
    makeRepository(workspace);
    write(workspace, { 'b.txt': 'new' });
    write(source, { '.git/refs/baton/salvage/T-1/run-1.lock': '' });
    expect(savedBy(await salvage.save(requestFor(workspace)))).toMatchObject([{ name: 'T-1/run-1-2' }]);
  });
});

it.each(['-50', '1e400', 'x'])('reading the output of git ends at an object of the size %s', (size) => {
  const id = 'a1'.repeat(20);
  const output = `${id} blob 2\nhi\n${id} blob ${size}\n${'x'.repeat(60)}\n`;
  expect([...objectsIn(output)]).toEqual([{ id, type: 'blob', content: 'hi' }]);
});
