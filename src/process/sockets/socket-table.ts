import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIPv4, isIPv6 } from 'node:net';
import { sharedRead } from '../shared-read.ts';

/** The two ends of a connection, as the accepting side sees them. */
export interface LocalConnection {
  readonly localAddress: string;
  readonly localPort: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
}

/** The other end, as the kernel records it. */
export interface SocketEnd {
  /** The user who made it. */
  readonly uid: number;
  /** Identifies the socket in `/proc/<pid>/fd`, which shows the processes that have it open. */
  readonly inode: string;
}

const tables = ['/proc/net/tcp', '/proc/net/tcp6'];

/** Whether this machine has the table of connections at all; without it Baton cannot tell peers apart. */
export function hasSocketTable(): boolean {
  return existsSync('/proc/net/tcp');
}

/** Compares address and port of both ends: a port alone may be in use at several addresses of one machine. */
export async function findSocketEnd(connection: LocalConnection): Promise<SocketEnd | null> {
  const { localAddress, localPort, remoteAddress, remotePort } = connection;
  const [theirs, ours] = [addressTexts(remoteAddress), addressTexts(localAddress)];
  const found = new Map<string, SocketEnd>();
  const texts = await readTables();
  for (const [index, their] of theirs.entries()) {
    const wanted = ` ${their}:${portText(remotePort)} ${ours[index]}:${portText(localPort)} `;
    for (const text of texts) {
      for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
        // `state queues timer retransmits uid timeout inode`; a closed end has no inode any more.
        const [, , , , uid = '', , inode = ''] = text.slice(at + wanted.length, at + wanted.length + 200).split(/\s+/);
        if (/^\d+$/.test(uid) && /^[1-9]\d*$/.test(inode)) found.set(inode, { uid: Number(uid), inode });
      }
    }
  }
  // No known kernel lists a connection twice. If one did, the right entry would be unknown.
  return found.size === 1 ? ([...found.values()][0] ?? null) : null;
}

/** The user who listens on a port of this machine; null when none is found. */
export async function listenerUid(port: number): Promise<number | null> {
  // `local remote state queues timer retransmits uid`; 0A is the state of a listener.
  const line = new RegExp(`:${portText(port)} [0-9A-F]+:0000 0A \\S+ \\S+ \\S+ +(\\d+) `);
  const [uid] = (await readTables()).flatMap((text) => line.exec(text)?.[1] ?? []);
  return uid === undefined ? null : Number(uid);
}

const readTables = sharedRead(() => Promise.all(tables.map((file) => readFile(file, 'utf8').catch(() => ''))));

/**
 * An address as the table writes it: words of four bytes, each as this machine's number in hexadecimal. An IPv4 address
 * may also be in the IPv6 table, with a prefix. Empty for text that is not an address.
 */
function addressTexts(address: string): readonly string[] {
  const short = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (isIPv4(short)) {
    const word = wordsText(short.split('.').map(Number));
    return [word, `${wordsText([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff])}${word}`];
  }
  return isIPv6(address) && !address.includes('.') ? [wordsText(longBytes(address))] : [];
}

function longBytes(address: string): number[] {
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const groups = (text: string): string[] => text.split(':').filter((group) => group !== '');
  const [first, last] = [groups(head), groups(tail ?? '')];
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0');
  return [...first, ...zeros, ...last].flatMap((group) => {
    const number = Number.parseInt(group, 16);
    return [number >> 8, number & 0xff];
  });
}

function wordsText(bytes: readonly number[]): string {
  const words = new Uint32Array(Uint8Array.from(bytes).buffer);
  return [...words].map((word) => word.toString(16).toUpperCase().padStart(8, '0')).join('');
}

/** Four hexadecimal digits. */
function portText(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}
