import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const memory = '/dev/shm';
/** Several times what the tests ever have there at once; a container often has 64 MB. */
const enoughBytes = 4 * 1024 ** 3;

/**
 * Where the tests make their folders: in memory, where there is room and programs may be run from it. Thousands of
 * repositories and stores are written for a moment, and on a disk most of that time is waiting for it. A daemon that is
 * killed loses no more there than on a disk. `TMPDIR=/tmp npm test` runs them on the disk.
 */
export function temporaryFolder(): string {
  return process.env.TMPDIR || (isRoomy(memory) && runsPrograms(memory) ? memory : tmpdir());
}

/** Where a real agent works: its sandbox has a `/dev` of its own, in which what is in memory is not found. */
export function folderOnDisk(): string {
  return tmpdir() === memory ? '/tmp' : tmpdir();
}

function isRoomy(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= enoughBytes;
  } catch {
    return false;
  }
}

function runsPrograms(folder: string): boolean {
  let made: string | undefined;
  try {
    made = mkdtempSync(path.join(folder, 'baton-probe-'));
    const program = path.join(made, 'program');
    writeFileSync(program, '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    execFileSync(program);
    return true;
  } catch {
    return false;
  } finally {
    if (made !== undefined) rmSync(made, { recursive: true, force: true });
  }
}
