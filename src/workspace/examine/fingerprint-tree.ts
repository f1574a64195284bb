import { createHash } from 'node:crypto';
import type { Dirent, Stats } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import { type BytePath, fromBytePath, toBytePath, walkFolders } from '../walk-folders.ts';
import { type Fact, gitDirectoryFacts, gitFileFacts } from './git-facts.ts';

/** A larger tree has no fingerprint, because two walks through it would take too long. */
const mostEntries = 20_000;

/** How many files are examined at once: enough to keep the kernel busy, few enough to leave time for other work. */
const askedAtOnce = 64;

/**
 * A digest of a tree; null when it could not be read completely. It only reads, runs no program, follows no link and
 * opens nothing but directories and small files of git; names come from an agent, so each fact is quoted.
 */
export async function fingerprintTree(
  root: string | Buffer,
  budget: { left: number } = { left: mostEntries },
): Promise<string | null> {
  const digest = createHash('sha256');
  const start = typeof root === 'string' ? toBytePath(root) : root.toString('latin1');
  try {
    if (!(await lstat(root)).isDirectory()) return null;
    for await (const folder of walkFolders(start, { budget, enters: (name) => name !== '.git' })) {
      for (let from = 0; from < folder.entries.length; from += askedAtOnce) {
        const some = folder.entries.slice(from, from + askedAtOnce);
        const facts = await Promise.all(some.map((entry) => factsOf(folder.path, entry, budget)));
        for (const [at, ...what] of facts.flat()) digest.update(`${JSON.stringify([at.slice(start.length), what])}\n`);
      }
    }
    return digest.digest('hex');
  } catch {
    return null;
  }
}

async function factsOf(folder: BytePath, entry: Dirent, budget: { left: number }): Promise<Fact[]> {
  const file = `${folder}/${entry.name}`;
  // The time of a directory also changes for files that are already gone; its names are separate facts.
  if (entry.isDirectory()) {
    const git = entry.name === '.git' ? await gitDirectoryFacts(file, budget) : [];
    return [[file, 'directory'], ...git];
  }
  const found = await lstat(fromBytePath(file));
  if (found.isSymbolicLink()) return [[file, 'link', await readlink(fromBytePath(file), 'latin1')]];
  const git = entry.name === '.git' && found.isFile() ? await gitFileFacts(file) : [];
  return [[file, ...plainFacts(found)], ...git];
}

function plainFacts(found: Stats): (string | number)[] {
  if (!found.isFile()) return ['other', found.mode];
  return ['file', found.size, found.mtimeMs, (found.mode & 0o111) === 0 ? 'plain' : 'executable'];
}
