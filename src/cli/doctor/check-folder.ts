import { mkdtemp, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { toBatonError } from '../../core/baton-error.ts';
import { type Finding, failed, passed } from '../../core/finding.ts';
import { shellArgument } from '../../core/text/shell-argument.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { freeDiskMb, nearestFolder } from '../../workspace/free-disk.ts';

/** With less free space a checkout or a build can fail halfway. */
const leastFreeMegabytes = 1_024;

/**
 * Whether Baton can write in a folder, or in its nearest existing parent, and whether the disk has enough headroom:
 * enough for work, and not less than the floor below which nothing starts.
 */
export async function checkFolder(
  check: string,
  folder: string,
  { uid }: Pick<Surroundings, 'uid'>,
  floorMb = 0,
): Promise<Finding> {
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
    const { path: closed, uid: owner } = await nearestVisible(folder);
    const isOwn = uid === null || owner === uid;
    const nextStep = isOwn
      ? `make it writable: chmod u+rwx ${shellArgument(closed)}`
      : `${closed} belongs to another user (uid ${owner}): choose a folder of your own, or ask its owner for access`;
    return failed(check, message, nextStep, { code: 'not_writable', path: folder, owner, owned_by_you: isOwn });
  }
}

/** The folder that keeps Baton out, or is the nearest above it that Baton can see. */
async function nearestVisible(folder: string): Promise<{ readonly path: string; readonly uid: number | null }> {
  const found = await stat(folder).catch(() => null);
  if (found !== null) return { path: folder, uid: found.uid };
  const parent = path.dirname(folder);
  return parent === folder ? { path: folder, uid: null } : nearestVisible(parent);
}

export function megabytes(count: number): string {
  return `${count.toLocaleString('en')} MB`;
}
