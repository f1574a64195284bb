import type { BytePath } from '../../walk-folders.ts';
import type { ObjectFormat } from '../shadow/shadow-git.ts';
import { notUnderstood } from './git-files.ts';

export interface IndexEntry {
  readonly path: BytePath;
  readonly mode: number;
  readonly id: string;
  /** Not 0 for a file in conflict, which then has several entries. */
  readonly stage: number;
  /** Not to be in the work tree: left out by a sparse checkout. */
  readonly isSkipped: boolean;
}

/** The mode of a commit of another repository, a submodule. */
export const submoduleMode = 0o160000;

const headerLength = 12;
/** Times, numbers and sizes from the kernel, before the id. */
const statLength = 40;
const modeAt = 24;
const skipFlag = 0x4000;

/** Names of version 4 are shortened, so that a small file could hold endlessly long ones. */
const mostNameBytes = 128 * 1024 * 1024;
const longestName = 64 * 1024;

/**
 * Reads an index as gitformat-index(5) describes it, versions 2 to 4. It may be an agent's: anything that does not fit
 * throws. Of a split index it reads only the index's own part. By hand, because git expands an entry for a whole folder
 * while it reads the file, and an agent can write one that stands for ten thousand million files.
 */
export function readIndex(bytes: Buffer, format: ObjectFormat): readonly IndexEntry[] {
  if (bytes.length === 0) return [];
  try {
    return entriesOf(bytes, format === 'sha1' ? 20 : 32);
  } catch (cause) {
    throw notUnderstood('The git index is broken.', cause);
  }
}

function entriesOf(bytes: Buffer, idLength: number): readonly IndexEntry[] {
  const version = bytes.readUInt32BE(4);
  if (bytes.toString('latin1', 0, 4) !== 'DIRC' || version < 2 || version > 4) throw new RangeError('no index');
  const entries: IndexEntry[] = [];
  let path = '';
  let nameBytes = 0;
  let at = headerLength;
  for (let left = bytes.readUInt32BE(8); left > 0; left -= 1) {
    const flagsAt = at + statLength + idLength;
    const flags = bytes.readUInt16BE(flagsAt);
    const isExtended = (flags & 0x4000) !== 0;
    const more = isExtended ? bytes.readUInt16BE(flagsAt + 2) : 0;
    let from = flagsAt + (isExtended ? 4 : 2);
    let kept = '';
    if (version === 4) {
      const { value, next } = readVarint(bytes, from);
      if (value > path.length) throw new RangeError('no such prefix');
      kept = path.slice(0, path.length - value);
      from = next;
    }
    const end = bytes.indexOf(0, from);
    if (end < 0) throw new RangeError('no end of a name');
    path = kept + bytes.toString('latin1', from, end);
    nameBytes += path.length;
    if (path.length > longestName || nameBytes > mostNameBytes) throw new RangeError('names too long');
    entries.push({
      path,
      mode: bytes.readUInt32BE(at + modeAt),
      id: bytes.toString('hex', at + statLength, flagsAt),
      stage: (flags >> 12) & 3,
      isSkipped: (more & skipFlag) !== 0,
    });
    // Up to version 3 an entry is filled with one to eight NULs to a multiple of eight bytes.
    at = version === 4 ? end + 1 : at + ((end - at + 8) & ~7);
  }
  return entries;
}

/** A number as packs write an offset: seven bits a byte, each further byte adding one. */
function readVarint(bytes: Buffer, from: number): { value: number; next: number } {
  let at = from;
  let byte = bytes.readUInt8(at);
  let value = byte & 127;
  while ((byte & 128) !== 0) {
    at += 1;
    byte = bytes.readUInt8(at);
    value = (value + 1) * 128 + (byte & 127);
    if (value > bytes.length) throw new RangeError('too long');
  }
  return { value, next: at + 1 };
}
