import path from 'node:path';
import { lstatOrNull } from '../file-system.ts';
import { readSmallFile } from '../read-small-file.ts';
import { type BytePath, fromBytePath, walkFolders } from '../walk-folders.ts';

/** A fact about a path; two examinations with the same facts saw no change. */
export type Fact = readonly [at: BytePath, ...what: (string | number | null)[]];

/** A reference is one line. */
const mostReferenceBytes = 4 * 1024;

const mostPackedBytes = 1024 * 1024;

/**
 * The references of a repository (its directory `.git`): HEAD and all below `refs`, loose or packed. A commit changes
 * them; reading the repository with git does not, although git writes elsewhere in the directory.
 */
export async function gitDirectoryFacts(git: BytePath, budget: { left: number }): Promise<Fact[]> {
  const facts: Fact[] = [
    await factOf(`${git}/HEAD`, mostReferenceBytes),
    await factOf(`${git}/packed-refs`, mostPackedBytes),
    // For a repository that stores references in tables: the names of the tables, which are new after each change.
    await factOf(`${git}/reftable/tables.list`, mostReferenceBytes),
  ];
  const refs = await lstatOrNull(fromBytePath(`${git}/refs`));
  if (!refs?.isDirectory()) return facts;
  for await (const folder of walkFolders(`${git}/refs`, { budget, enters: () => true })) {
    for (const entry of folder.entries) {
      const file = `${folder.path}/${entry.name}`;
      facts.push(entry.isDirectory() ? [file, 'directory'] : await factOf(file, mostReferenceBytes));
    }
  }
  return facts;
}

/**
 * The same for a file `.git`, which names the directory of a worktree or of a submodule: HEAD there and the reference
 * that it names. Other references belong to other worktrees. The directory may be anywhere, so
 * nothing is listed, and unreadable files are left out.
 */
export async function gitFileFacts(file: BytePath): Promise<Fact[]> {
  try {
    const named = firstLine(await textOf(file, mostReferenceBytes), /^gitdir: (.+)$/);
    if (named === null) return [];
    const git = path.resolve(path.dirname(file), named);
    const head = await textOf(`${git}/HEAD`, mostReferenceBytes);
    const reference = firstLine(head, /^ref: (refs\/.+)$/);
    if (reference === null || reference.split('/').includes('..')) return [[file, head]];
    const common = firstLine(await textOf(`${git}/commondir`, mostReferenceBytes), /^(.+)$/);
    const home = common === null ? git : path.resolve(git, common);
    const loose = await textOf(`${home}/${reference}`, mostReferenceBytes);
    return [[file, head, loose, await packedLine(`${home}/packed-refs`, reference)]];
  } catch {
    return [];
  }
}

async function factOf(file: BytePath, mostBytes: number): Promise<Fact> {
  const found = await readSmallFile(file, mostBytes);
  if (found === null) return [file, null];
  return found.text === null ? [file, found.size, found.mtimeMs] : [file, found.text];
}

async function textOf(file: BytePath, mostBytes: number): Promise<string | null> {
  return (await readSmallFile(file, mostBytes))?.text ?? null;
}

async function packedLine(file: BytePath, reference: string): Promise<string | number | null> {
  const found = await readSmallFile(file, mostPackedBytes);
  if (found === null) return null;
  if (found.text === null) return found.mtimeMs;
  return found.text.split('\n').find((line) => line.endsWith(` ${reference}`)) ?? null;
}

function firstLine(text: string | null, pattern: RegExp): string | null {
  return pattern.exec(text?.split('\n', 1)[0] ?? '')?.[1] ?? null;
}
