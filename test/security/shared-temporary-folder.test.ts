import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { defaultWorkspaceRoot, stateFolder } from '../../src/daemon/state-folder.ts';
import type { Surroundings } from '../../src/daemon/surroundings.ts';
import { refuseUnsafeRoot } from '../../src/workspace/safe-root.ts';
import { scratchWorkspaces, visit } from '../workspace/scratch-workspaces.ts';

const isRoot = process.geteuid?.() === 0;
const anotherUser = 65_534;

function folder(mode: number, ...names: string[]): string {
  const made = path.join(...names);
  mkdirSync(made);
  chmodSync(made, mode);
  return made;
}

/** A folder for temporary files that every user may write to. */
function sharedTmp(): string {
  return folder(0o1777, mkdtempSync(path.join(tmpdir(), 'baton-shared-')), 'tmp');
}

function refusalOf(root: string): unknown {
  try {
    refuseUnsafeRoot(root);
    return null;
  } catch (error) {
    return error;
  }
}

const refusedFor = (problem: string) =>
  expect.objectContaining({ code: 'workspace_root_unsafe', details: expect.objectContaining({ problem }) });

describe('the root of the workspaces', () => {
  it('is accepted when it is missing or ours, also in a shared folder for temporary files', () => {
    const tmp = sharedTmp();
    expect(refusalOf(path.join(tmp, 'missing', 'too'))).toBe(null);
    expect(refusalOf(folder(0o700, folder(0o755, tmp, 'a'), 'root'))).toBe(null);
  });

  it('is refused when every user may write to it', () => {
    expect(refusalOf(folder(0o777, sharedTmp(), 'root'))).toEqual(refusedFor('writable_by_others'));
  });

  it('is refused when every user may replace it or a folder above it', () => {
    const open = folder(0o777, sharedTmp(), 'open');
    expect(refusalOf(folder(0o700, open, 'root'))).toEqual(refusedFor('replaceable_by_others'));
    expect(refusalOf(folder(0o700, folder(0o700, open, 'between'), 'root'))).toEqual(
      refusedFor('replaceable_by_others'),
    );
  });

  it('is refused when it is a file', () => {
    const file = path.join(sharedTmp(), 'root');
    writeFileSync(file, '');
    expect(refusalOf(file)).toEqual(refusedFor('not_a_folder'));
  });

  it.skipIf(!isRoot)('is refused when another user made it, a folder above it or a link on the way to it', () => {
    const tmp = sharedTmp();
    const theirs = folder(0o755, tmp, 'baton_workspaces');
    const root = folder(0o700, theirs, 'project');
    chownSync(theirs, anotherUser, anotherUser);
    expect(refusalOf(theirs)).toEqual(refusedFor('another_user'));
    expect(refusalOf(root)).toEqual(refusedFor('replaceable_by_others'));
    const link = path.join(tmp, 'link');
    symlinkSync(folder(0o700, tmp, 'ours'), link);
    expect(refusalOf(link)).toBe(null);
    lchownSync(link, anotherUser, anotherUser);
    expect(refusalOf(link)).toEqual(refusedFor('replaceable_by_others'));
  });
});

describe('a workspace', () => {
  const modeOf = (place: string): string => (statSync(place).mode & 0o7777).toString(8);

  it('and its root are for their user alone, whatever the umask lets through', async () => {
    const before = process.umask(0);
    try {
      const { root, workspaces } = scratchWorkspaces();
      const { path: made } = await workspaces.prepare(visit());
      expect([modeOf(root), modeOf(made)]).toEqual(['700', '700']);
      const uid = process.geteuid?.();
      expect([statSync(root).uid, statSync(made).uid]).toEqual([uid, uid]);
    } finally {
      process.umask(before);
    }
  });

  it('is neither made nor used in a root that others can write, and nothing is written there', async () => {
    const { root, workspaces } = scratchWorkspaces();
    await workspaces.prepare(visit());
    chmodSync(root, 0o777);
    const unsafe = { code: 'workspace_root_unsafe', details: { problem: 'writable_by_others' } };
    for (const identifier of ['T-1', 'T-2'])
      await expect(workspaces.prepare(visit({ identifier }))).rejects.toMatchObject(unsafe);
    expect(readdirSync(root)).toEqual(['T-1']);
  });

  it.skipIf(!isRoot)('is not used when another user has put a folder in its place', async () => {
    const { root, workspaces } = scratchWorkspaces();
    const { path: made } = await workspaces.prepare(visit());
    chownSync(made, anotherUser, anotherUser);
    await expect(workspaces.prepare(visit())).rejects.toMatchObject({
      code: 'workspace_unavailable',
      details: { problem: 'another_user', path: made },
    });
    expect(readdirSync(root)).toEqual(['T-1']);
  });

  it('is not used when others can reach it and write to it', async () => {
    const { root, workspaces } = scratchWorkspaces();
    const { path: made } = await workspaces.prepare(visit());
    chmodSync(made, 0o777);
    expect(await workspaces.prepare(visit())).toMatchObject({ path: made });
    chmodSync(root, 0o755);
    const unsafe = { code: 'workspace_unavailable', details: { problem: 'writable_by_others', path: made } };
    await expect(workspaces.prepare(visit())).rejects.toMatchObject(unsafe);
    chmodSync(made, 0o755);
    expect(await workspaces.prepare(visit())).toMatchObject({ path: made });
  });
});

describe('the default root', () => {
  const workflow = '/repo/WORKFLOW.md';
  const surroundings = (tmpDir: string) =>
    ({ env: {}, cwd: '/', homeDir: '/home/me', tmpDir, uid: process.geteuid?.() ?? null }) as unknown as Surroundings;

  it('is in the state folder', () => {
    const around = surroundings(sharedTmp());
    const state = stateFolder(workflow, undefined, around);
    expect(defaultWorkspaceRoot(workflow, undefined, around)).toBe(path.join(state, 'workspaces'));
    expect(defaultWorkspaceRoot(workflow, '/state', around)).toBe('/state/workspaces');
  });

  it('is the one of earlier versions while it has workspaces', () => {
    const around = surroundings(sharedTmp());
    const name = path.basename(stateFolder(workflow, undefined, around));
    const earlier = path.join(around.tmpDir, 'baton_workspaces', name);
    mkdirSync(earlier, { recursive: true });
    expect(defaultWorkspaceRoot(workflow, '/state', around)).toBe('/state/workspaces');
    mkdirSync(path.join(earlier, 'BAT-1'));
    expect(defaultWorkspaceRoot(workflow, '/state', around)).toBe(earlier);
    if (isRoot) chownSync(earlier, anotherUser, anotherUser);
    if (isRoot) expect(defaultWorkspaceRoot(workflow, '/state', around)).toBe('/state/workspaces');
  });
});
