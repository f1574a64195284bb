import { readFile } from 'node:fs/promises';
import { freemem, totalmem } from 'node:os';
import { cachedFileBytes, memoryStatFiles } from './control-group-memory.ts';

const megabyte = 1024 ** 2;

/**
 * Megabytes of memory that a new program could have: of the machine, and of the control group that Baton runs in. The
 * system counts cached files as used by the group, although it frees them before anything fails. A group that has read
 * much would look full for ever, so cached files count as free. Never rejects.
 */
export async function freeMemoryMb(): Promise<number> {
  const ofMachine = freemem();
  // Without a limit this is nothing, or beyond all memory.
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
