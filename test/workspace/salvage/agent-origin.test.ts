import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { plainAddress, readAgentOrigin } from '../../../src/workspace/salvage/agent-origin.ts';
import { scratchGit } from '../git/examine-scene.ts';
import { scratchFolder } from '../scratch-folder.ts';
import { gitIn, makeRepository, salvageScene, throughSalvage, write } from './salvage-scene.ts';

describe('the origin of a clone that Baton did not make', () => {
  it('is restored without credentials', async () => {
    const { salvage, workspace, folder } = salvageScene();
    const source = path.join(folder, 'far away');
    makeRepository(source);
    rmSync(workspace, { recursive: true });
    gitIn(folder, 'clone', '-q', source, workspace);
    write(workspace, { 'a.txt': 'two\n' });
    const restored = await throughSalvage(salvage, workspace);
    expect(gitIn(restored, 'remote', 'get-url', 'origin')).toBe(source);
    gitIn(restored, 'fetch', '-q', 'origin');
    expect(gitIn(restored, 'rev-parse', 'origin/main')).toBe(gitIn(source, 'rev-parse', 'main'));

    mkdirSync(workspace);
    makeRepository(workspace);
    gitIn(workspace, 'remote', 'add', 'origin', 'https://me:secret@example.invalid/x.git');
    rmSync(restored, { recursive: true });
    await throughSalvage(salvage, workspace);
    expect(gitIn(restored, 'remote', 'get-url', 'origin')).toBe('https://example.invalid/x.git');
  });

  it('is left out when it could make git run a program, and the rest is restored', async () => {
    const { salvage, workspace } = salvageScene();
    makeRepository(workspace);
    const config = path.join(workspace, '.git', 'config');
    writeFileSync(config, '[core]\n\tbare = false\n[remote "origin"]\n\turl = ext::sh -c touch% /tmp/x\n');
    const restored = await throughSalvage(salvage, workspace);
    expect(gitIn(restored, 'remote')).toBe('');
  });

  it.each([
    ['[remote "origin"]\n\turl = https://a.b/c\n', 'https://a.b/c'],
    ['[REMOTE "origin"] URL=https://a.b/c # why\n', 'https://a.b/c'],
    ['[remote "origin"]\n\turl = "/a b;c" ; why\n', '/a b;c'],
    ['[remote "origin"]\n\turl = "/a\\"b\\\\"\n', '/a"b\\'],
    ['[remote "origin"]\n\turl = /a\\\n/b\n', '/a/b'],
    ['[remote "origin"]\n\turl = /first\n\turl = /second\n', '/first'],
    ['[remote "other"]\n\turl = /other\n[remote "origin"]\n\turl = /a\n', '/a'],
    ['[remote "Origin"]\n\turl = /a\n', null],
    ['[remote "origin"]\n\tpushurl = /a\n', null],
    ['[remote]\n\turl = /a\n', null],
    ['[remote "origin"]\n\turl = "/a\n', null],
    ['[remote "origin"]\n\turl = /a\\tb\n', null],
    [`[remote "origin"]\n\turl = /${'a'.repeat(5_000)}\n`, null],
    [`[remote "origin"]\n\turl = /\u00ff\n`, null],
    [`[${' '.repeat(500_000)}`, null],
  ])('is read from the configuration %j', async (config, origin) => {
    const common = scratchFolder();
    writeFileSync(path.join(common, 'config'), config, 'latin1');
    expect(await readAgentOrigin(scratchGit(), { common })).toBe(origin);
  });

  it.each([
    ['https://example.com/a/b.git', 'https://example.com/a/b.git'],
    ['http://example.com:8080/a', 'http://example.com:8080/a'],
    ['https://token@example.com/a', 'https://example.com/a'],
    ['https://me:pass@example.com/a', 'https://example.com/a'],
    ['git://[::1]:9418/a', 'git://[::1]:9418/a'],
    ['ssh://git@example.com:22/a', 'ssh://git@example.com:22/a'],
    ['ssh://git:pass@example.com/a', 'ssh://git@example.com/a'],
    ['git@example.com:a/b.git', 'git@example.com:a/b.git'],
    ['example.com:a', 'example.com:a'],
    ['/a b/c', '/a b/c'],
    ['file:///a/b', 'file:///a/b'],
  ])('%s is plain and is kept as %s', (written, kept) => {
    expect(plainAddress(written)).toBe(kept);
  });

  it.each([
    ...['', '-u', '--upload-pack=x', '../a', 'a', 'ext::sh', 'fd::7', 'https::x', 'file://host/a', 'ftp://a/b'],
    ...['ssh://-oProxyCommand=x/a', 'ssh://-x@host/a', '-x:a', 'git@-x:a', 'https:///a', 'https://host', 'HTTPS://a/b'],
    ...['https://a:p/w@host/x', 'https://a:1/w@host/x', 'https://host/x?token=y', 'https://host/x#y', 'me:pass@host:a'],
    ...[
      'https://ho st/a',
      'https://host/a\nb',
      '/a\nb',
      '/a\u202eb',
      `${'t'.repeat(40)}@host:a`,
      'host::a',
      '/a\ufffd',
    ],
  ])('%j is not plain', (written) => {
    expect(plainAddress(written)).toBeNull();
  });
});
