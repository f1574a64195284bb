import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { toBatonError } from '../../core/baton-error.ts';
import { type Finding, failed, passed } from '../../core/finding.ts';
import { freeDiskMb, nearestFolder } from '../../workspace/free-disk.ts';

/** With less free space a checkout or a build can fail halfway. */
const leastFreeMegabytes = 1_024;

/**
 * Whether Baton can write in a folder, or in its nearest existing parent, and whether the disk has enough headroom:
 * enough for work, and not less than the floor below which nothing starts.
 */
export async function checkFolder(check: string, folder: string, floorMb = 0): Promise<Finding> {
  try {
    const existing = (await nearestFolder(folder)).folder;
    await rm(await mkdtemp(path.join(existing, '.baton-doctor-')), { recursive: true });
    const free = await freeDiskMb(existing);
    const floor = floorMb === 0 ? '' : `; nothing starts below ${megabytes(floorMb)} (workspace.min_free_disk_mb)`;
    const message = `${folder} is writable, ${free === null ? 'free space unknown' : `${megabytes(free)} free`}${floor}`;
    const least = Math.max(leastFreeMegabytes, floorMb);
    const facts = { path: folder, free_mb: free, least_mb: least };
    if (free === null || free >= least) return passed(check, message, facts);
    return failed(check, message, `free at least ${megabytes(least)} there`, { code: 'low_disk', ...facts });
  } catch (error) {
    const message = `${folder} cannot be written: ${toBatonError(error).message}`;
    return failed(check, message, `make it writable: chmod u+rwx '${folder}'`, { code: 'not_writable', path: folder });
  }
}

export function megabytes(count: number): string {
  return `${count.toLocaleString('en')} MB`;
}
