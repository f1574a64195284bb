import { existsSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';

/** A separate directory for one test, with its real path. */
export function scratchFolder(): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'baton-workspace-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A folder on another disk than `scratchFolder`; undefined if the machine has none. */
export const otherDisk = ['/dev/shm', '/tmp', '/var/tmp'].find(
  (folder) => existsSync(folder) && statSync(folder).dev !== statSync(tmpdir()).dev,
);

/** The BatonError that a promise rejects with; any other outcome fails the test. */
export async function rejection(promise: Promise<unknown>): Promise<BatonError> {
  const thrown = await promise.then(
    () => new Error('nothing was refused'),
    (error: unknown) => error,
  );
  if (thrown instanceof BatonError) return thrown;
  throw thrown;
}
