import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { keepOutOfGit } from '../../src/workspace/keep-out-of-git.ts';
import { readWorkspaceFile } from '../../src/workspace/read-workspace-file.ts';

let place: string;
let workspace: string;

beforeEach(() => {
  place = mkdtempSync(path.join(tmpdir(), 'artifact-'));
  workspace = path.join(place, 'workspace');
  mkdirSync(path.join(workspace, '.baton'), { recursive: true });
  writeFileSync(path.join(place, 'secret.md'), 'secret');
});
afterEach(() => rmSync(place, { recursive: true }));

const read = (relative: string, most = 100) => readWorkspaceFile(workspace, relative, most);
const write = (name: string, content: string | Buffer): void => writeFileSync(path.join(workspace, name), content);

// @conforms 4.91
it('reads a text inside the workspace', async () => {
  write('.baton/a.md', 'text 漢');
  expect(await read('.baton/a.md')).toEqual({ text: 'text 漢' });
});

it.each([
  ['a path that leads out', '../secret.md', () => {}],
  ['an absolute path', '/etc/hostname', () => {}],
  ['a link', 'a.md', () => symlinkSync(path.join(place, 'secret.md'), path.join(workspace, 'a.md'))],
  ['a folder that is a link', 'out/secret.md', () => symlinkSync(place, path.join(workspace, 'out'))],
  ['a file with a second name', 'b.md', () => linkSync(path.join(place, 'secret.md'), path.join(workspace, 'b.md'))],
  ['a folder', '.baton', () => {}],
  ['a file that is not there', 'none.md', () => {}],
  ['a file below a file', 'file/none.md', () => write('file', '')],
  ['a pipe', 'pipe', () => execFileSync('mkfifo', [path.join(workspace, 'pipe')])],
  ['bytes that are not UTF-8', 'bytes', () => write('bytes', Buffer.from([0xff, 0xfe]))],
  ['binary data', 'zero', () => write('zero', 'a\0b')],
])('refuses %s, with the reason', async (_title, relative, prepare) => {
  prepare();
  expect(await read(relative)).toEqual({ why: expect.any(String) });
});

it('says how large a file is that is too large', async () => {
  write('large', 'x'.repeat(101));
  expect(await read('large')).toEqual({ bytes: 101 });
  expect(await read('large', 101)).toMatchObject({ text: expect.any(String) });
});

it('keeps a folder out of git once, and refuses a link in its place', async () => {
  execFileSync('git', ['init', '--quiet', workspace]);
  await keepOutOfGit(workspace, '.baton');
  await keepOutOfGit(workspace, '.baton');
  write('.baton/a.md', 'text');
  expect(execFileSync('git', ['-C', workspace, 'status', '--porcelain'], { encoding: 'utf8' })).toBe('');
  symlinkSync(place, path.join(workspace, 'out'));
  await expect(keepOutOfGit(workspace, 'out')).rejects.toMatchObject({ code: 'workspace_unavailable' });
});
