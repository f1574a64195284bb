import { mkdtempSync, rmSync, statfsSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freeDiskMb, nearestFolder } from '../../src/workspace/free-disk.ts';

function folder(): string {
  const made = mkdtempSync(path.join(tmpdir(), 'baton-disk-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

describe('free disk space', () => {
  it('is the space that the file system has for this user, in whole megabytes', async () => {
    const made = folder();
    const before = statfsSync(made);
    const free = await freeDiskMb(made);
    const expected = (before.bavail * before.bsize) / 1024 ** 2;
    expect(Number.isInteger(free)).toBe(true);
    // Other programs write meanwhile.
    expect(Math.abs((free ?? 0) - expected)).toBeLessThan(Math.max(500, expected / 10));
  });

  it('of a folder that does not exist yet is that of the nearest existing one above it', async () => {
    const made = folder();
    expect((await nearestFolder(path.join(made, 'a/b/c'))).folder).toBe(made);
    expect(await freeDiskMb(path.join(made, 'a/b/c'))).not.toBeNull();
    writeFileSync(path.join(made, 'file'), '');
    expect(await freeDiskMb(path.join(made, 'file/x'))).not.toBeNull();
  });

  it('is unknown where the file system has no size, or the path cannot exist', async () => {
    const made = folder();
    symlinkSync('loop', path.join(made, 'loop'));
    expect(await freeDiskMb(path.join(made, 'loop/x'))).toBeNull();
    expect(await freeDiskMb('/a\0b')).toBeNull();
    if (process.platform === 'linux') expect(await freeDiskMb('/proc/self')).toBeNull();
  });
});
