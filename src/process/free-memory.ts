import { readFile } from 'node:fs/promises';
import { freemem, totalmem } from 'node:os';
import { cachedFileBytes, memoryStatFiles } from './control-group-memory.ts';

const megabyte = 1024 ** 2;

/**
 * Megabytes of memory that a new program could use: the smaller figure of the machine and of the control group that
 * Baton runs in. Cached files count as free, because the kernel frees them before an allocation fails; otherwise a
 * group that has read many files would look full for ever. Never rejects.
 */
export async function freeMemoryMb(): Promise<number> {
  const ofMachine = freemem();
  // Without a limit this is zero, or more than all memory.
  const limit = process.constrainedMemory();
  const isLimited = limit > 0 && limit < totalmem();
  const free = isLimited ? Math.min(ofMachine, process.availableMemory() + (await cachedFiles())) : ofMachine;
  return Math.floor(free / megabyte);
}

async function cachedFiles(): Promise<number> {
  const read = (file: string): Promise<string | null> => readFile(file, 'utf8').catch(() => null);
  for (const file of memoryStatFiles((await read('/proc/self/cgroup')) ?? '')) {
    const stats = await read(file);
    if (stats !== null) return cachedFileBytes(stats);
  }
  return 0;
}
