import { type FileHandle, readdir } from 'node:fs/promises';
import path from 'node:path';
import { toBytePath } from '../folders-of.ts';
import type { ObjectFormat } from '../git/lens.ts';
import { lookAt } from '../look-at.ts';
import { withPlainFile } from '../read-small-file.ts';

/**
 * Why an object directory cannot tell that these objects, which git does not find there, are nowhere; null when it can. It
 * can when none of them has a file of its own, when each pack has an index that fits it, and none of those lists them.
 */
export async function brokenObjects(
  objects: string,
  format: ObjectFormat,
  missing: readonly string[],
): Promise<string | null> {
  for (const id of missing) {
    const file = path.join(objects, id.slice(0, 2), id.slice(2));
    if ((await lookAt(file)) !== null) return `${file} is there and is no object`;
  }
  const packs = path.join(objects, 'pack');
  if ((await lookAt(packs)) === null) return null;
  for (const name of await readdir(packs)) {
    if (!name.endsWith('.pack')) continue;
    const pack = path.join(packs, name);
    const index = pack.replace(/\.pack$/, '.idx');
    const why = (await lookAt(index)) === null ? 'has no index' : await brokenPack(pack, index, format, missing);
    if (why !== null) return `${pack} ${why}`;
  }
  return null;
}

const fanoutLength = 256 * 4;
/** Of an index of version 2, before the fan-out table. */
const headerLength = 8;
const packHeaderLength = 12;

async function brokenPack(
  pack: string,
  index: string,
  format: ObjectFormat,
  missing: readonly string[],
): Promise<string | null> {
  const idLength = format === 'sha1' ? 20 : 32;
  const packed = await withPlainFile(toBytePath(pack), (file) => readEnds(file, idLength));
  if (packed === null) return 'is no pack';
  const why = await withPlainFile(toBytePath(index), async (file) => {
    const table = await readTable(file, idLength);
    const doesFit =
      table !== null && table.count === packed.count && table.sum.equals(packed.sum) && table.size >= table.least;
    return doesFit ? `${await listed(file, table, missing)}` : 'has an index that does not fit';
  });
  return why === '' ? null : (why ?? 'has an index that is no file');
}

/** How many objects a pack holds, and its checksum; null for what is no pack. */
async function readEnds(file: FileHandle, idLength: number): Promise<{ count: number; sum: Buffer } | null> {
  const { size } = await file.stat();
  const header = await bytesAt(file, 0, packHeaderLength);
  if (header.toString('latin1', 0, 4) !== 'PACK' || size < packHeaderLength + idLength) return null;
  return { count: header.readUInt32BE(8), sum: await bytesAt(file, size - idLength, idLength) };
}

interface Table {
  readonly size: number;
  /** How long the file has to be. */
  readonly least: number;
  readonly count: number;
  /** The checksum of its pack. */
  readonly sum: Buffer;
  /** How many names begin with a byte up to this one. */
  readonly upTo: (byte: number) => number;
  /** Where entries begin, how long each is, and where in it the name is. */
  readonly from: number;
  readonly entry: number;
  readonly nameAt: number;
  readonly idLength: number;
}

/** Of an index, as gitformat-pack(5) has it; null when it is none. */
async function readTable(file: FileHandle, idLength: number): Promise<Table | null> {
  const { size } = await file.stat();
  const isFirst = (await bytesAt(file, 0, 4)).toString('hex') !== 'ff744f63';
  const tableAt = isFirst ? 0 : headerLength;
  const table = await bytesAt(file, tableAt, fanoutLength);
  if (table.length < fanoutLength) return null;
  const upTo = (byte: number): number => (byte < 0 ? 0 : table.readUInt32BE(byte * 4));
  for (let byte = 0; byte < 256; byte += 1) if (upTo(byte) < upTo(byte - 1)) return null;
  const count = upTo(255);
  // Version 1 has the place before each name; version 2 has names, checksums and places one after the other.
  const from = tableAt + fanoutLength;
  const least = from + count * (idLength + (isFirst ? 4 : 8)) + 2 * idLength;
  const sum = await bytesAt(file, size - 2 * idLength, idLength);
  const shape = isFirst ? { entry: idLength + 4, nameAt: 4 } : { entry: idLength, nameAt: 0 };
  return { size, least, count, sum, upTo, from, idLength, ...shape };
}

/** Says which of these an index lists; empty when none. */
async function listed(file: FileHandle, table: Table, missing: readonly string[]): Promise<string> {
  const { upTo, from, entry, nameAt, idLength } = table;
  const names = new Map<number, Set<string>>();
  for (const id of missing) {
    const byte = Number.parseInt(id.slice(0, 2), 16);
    let alike = names.get(byte);
    if (alike === undefined) {
      const list = await bytesAt(file, from + upTo(byte - 1) * entry, (upTo(byte) - upTo(byte - 1)) * entry);
      alike = new Set();
      for (let at = nameAt; at < list.length; at += entry) alike.add(list.toString('hex', at, at + idLength));
      names.set(byte, alike);
    }
    if (alike.has(id)) return `has ${id}, which cannot be read`;
  }
  return '';
}

async function bytesAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, Math.max(0, at));
  return buffer.subarray(0, bytesRead);
}
