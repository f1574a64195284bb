import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listWorkspaces } from '../../src/workspace/list-workspaces.ts';

function root(): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'baton-list-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const sized = { sizes: true } as const;

describe('the list of workspaces', () => {
  it('has every directory in the order of their names, with the time of its last change', async () => {
    const folder = root();
    for (const name of ['T-10', 'T-2', 'MT_Det--b45ad8f201f2d40b', '.hidden', 'a.b'])
      mkdirSync(path.join(folder, name));
    utimesSync(path.join(folder, 'T-2'), 1_000, 1_234.5);
    const found = await listWorkspaces(folder);
    expect(found.map(({ key }) => key)).toEqual(['.hidden', 'MT_Det--b45ad8f201f2d40b', 'T-10', 'T-2', 'a.b']);
    expect(found[3]).toEqual({
      key: 'T-2',
      path: path.join(folder, 'T-2'),
      state: 'whole',
      bytes: null,
      changedAt: 1_234_500,
    });
  });

  it('has neither links nor regular files nor names that no workspace can have', async () => {
    const folder = root();
    const outside = root();
    mkdirSync(path.join(folder, 'T-1'));
    mkdirSync(path.join(folder, 'a b'));
    mkdirSync(path.join(folder, '+something+T-1'));
    mkdirSync(path.join(folder, '+removing+T-1'));
    writeFileSync(path.join(folder, 'hooks.log'), 'x');
    writeFileSync(path.join(folder, '+removing+T-9+1'), 'a file, no workspace');
    symlinkSync(outside, path.join(folder, 'T-2'));
    symlinkSync(outside, path.join(folder, '+removing+T-2+1'));
    symlinkSync('nowhere', path.join(folder, 'T-3'));
    expect((await listWorkspaces(folder, sized)).map(({ key }) => key)).toEqual(['T-1']);
  });

  it('marks workspaces whose creation or removal is not finished', async () => {
    const folder = root();
    for (const name of ['T-1', 'T-2', '+removing+T-3+1', '+deleting+T-3+2']) mkdirSync(path.join(folder, name));
    writeFileSync(path.join(folder, '+making+T-1'), 'run');
    expect((await listWorkspaces(folder)).map(({ key, state }) => [key, state])).toEqual([
      ['T-3', 'removing'],
      ['T-3', 'removing'],
      ['T-1', 'making'],
      ['T-2', 'whole'],
    ]);
  });

  it('is empty without a root, and rejects for a root that is not a directory', async () => {
    const folder = root();
    expect(await listWorkspaces(path.join(folder, 'never'))).toEqual([]);
    writeFileSync(path.join(folder, 'file'), '');
    await expect(listWorkspaces(path.join(folder, 'file'))).rejects.toThrow();
  });

  it('has real paths below a root that is a link', async () => {
    const folder = root();
    mkdirSync(path.join(folder, 'real', 'T-1'), { recursive: true });
    symlinkSync('real', path.join(folder, 'link'));
    expect((await listWorkspaces(path.join(folder, 'link'))).map((entry) => entry.path)).toEqual([
      path.join(folder, 'real', 'T-1'),
    ]);
  });
});

describe('the size of a workspace', () => {
  const sizeIn = async (folder: string): Promise<number | null> =>
    (await listWorkspaces(folder, sized))[0]?.bytes ?? null;

  it('is the disk space it takes, each file once, without the targets of links', async () => {
    const folder = root();
    const outside = root();
    writeFileSync(path.join(outside, 'large'), Buffer.alloc(4_000_000));
    const place = path.join(folder, 'T-1');
    mkdirSync(path.join(place, 'deep', 'er'), { recursive: true });
    const empty = (await sizeIn(folder)) ?? Number.NaN;
    const file = path.join(place, 'deep', 'er', 'file');
    writeFileSync(file, Buffer.alloc(1_000_000));
    const one = ((await sizeIn(folder)) ?? 0) - empty;
    expect(one).toBeGreaterThanOrEqual(1_000_000);
    expect(one).toBeLessThan(1_100_000);
    for (let count = 0; count < 5; count += 1) linkSync(file, path.join(place, `again-${count}`));
    symlinkSync(outside, path.join(place, 'away'));
    symlinkSync(path.join(outside, 'large'), path.join(place, 'large'));
    symlinkSync('.', path.join(place, 'loop'));
    expect(((await sizeIn(folder)) ?? 0) - empty).toBeLessThan(1_100_000);
  });

  it('counts a sparse file by its disk space', async () => {
    const folder = root();
    mkdirSync(path.join(folder, 'T-1'));
    const file = path.join(folder, 'T-1', 'holes');
    writeFileSync(file, 'x');
    truncateSync(file, 10_000_000_000);
    expect(await sizeIn(folder)).toBeLessThan(1_000_000);
  });

  it('includes names that are not valid UTF-8', async () => {
    const folder = root();
    mkdirSync(path.join(folder, 'T-1'));
    const before = (await sizeIn(folder)) ?? Number.NaN;
    const name = Buffer.concat([Buffer.from(`${folder}/T-1/`), Buffer.from([0xff, 0xfe, 0x0a])]);
    writeFileSync(name, Buffer.alloc(100_000));
    expect(((await sizeIn(folder)) ?? 0) - before).toBeGreaterThanOrEqual(100_000);
  });

  it('is unknown above the limit of entries, and the sizes of others are still known', async () => {
    const folder = root();
    for (const name of ['T-1', 'T-2']) mkdirSync(path.join(folder, name));
    for (let count = 0; count < 20; count += 1) writeFileSync(path.join(folder, 'T-1', `${count}`), '');
    const found = await listWorkspaces(folder, { sizes: true, mostEntries: 10 });
    expect(found.map(({ bytes }) => typeof bytes)).toEqual(['object', 'number']);
  });

  it.skipIf(process.getuid?.() === 0)('is unknown when a part cannot be read', async () => {
    const folder = root();
    const closed = path.join(folder, 'T-1', 'closed');
    mkdirSync(closed, { recursive: true });
    chmodSync(closed, 0);
    onTestFinished(() => chmodSync(closed, 0o700));
    expect(await sizeIn(folder)).toBeNull();
  });
});
