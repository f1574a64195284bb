import { mkdtemp, rm, statfs } from 'node:fs/promises';
import path from 'node:path';
import { toBatonError } from '../../core/baton-error.ts';
import { type Finding, ill, well } from './finding.ts';

/** Below this much free space a checkout and a build can fail in the middle. */
const leastFreeMegabytes = 1_024;

/** Whether Baton can write in a folder, or in the nearest one above it that exists, and whether there is room. */
export async function checkFolder(name: string, folder: string): Promise<Finding> {
  try {
    const existing = await nearestExisting(folder);
    await rm(await mkdtemp(path.join(existing, '.baton-doctor-')), { recursive: true });
    const { bavail, bsize } = await statfs(existing);
    const free = Math.floor((bavail * bsize) / 1024 ** 2);
    const detail = `${folder} can be written, ${free.toLocaleString('en')} MB free`;
    return free >= leastFreeMegabytes
      ? well(name, detail)
      : ill(name, detail, `free space there: at least ${leastFreeMegabytes.toLocaleString('en')} MB`);
  } catch (error) {
    return ill(
      name,
      `${folder} cannot be written: ${toBatonError(error).message}`,
      `make it writable: chmod u+rwx '${folder}'`,
    );
  }
}

async function nearestExisting(folder: string): Promise<string> {
  const parent = path.dirname(folder);
  if (parent === folder) return folder;
  return (await statfs(folder).catch(() => null)) === null ? nearestExisting(parent) : folder;
}
