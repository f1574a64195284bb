import type { Dirent } from 'node:fs';
import { type BytePath, walkFolders } from '../../walk-folders.ts';
import { idIn, isFolder, mostListBytes, notUnderstood, shown, textIn } from './git-files.ts';

/** References by their names, as bytes: an id, or the name of another reference. */
export type References = ReadonlyMap<BytePath, { readonly id: string } | { readonly to: BytePath }>;

type Found = [BytePath, { readonly id: string } | { readonly to: BytePath }];

/** No path on the system is longer. */
const longestName = 4096;

/** Git follows the same number. */
const mostSteps = 5;

const readAtOnce = 32;

/** References that a linked worktree has for itself; it shares all others. */
const ownKinds = /^refs\/(?:bisect|worktree|rewritten)\//;

/**
 * Every reference of a git directory, loose or packed. Throws for references that git would call broken, because one may
 * be the last trace of work. Git leaves them out, or lists them as an object of zeros.
 */
export async function readReferences(
  places: { readonly folder: BytePath; readonly common: BytePath },
  budget: { left: number },
): Promise<References> {
  const { folder, common } = places;
  const packed = packedReferences((await textIn(`${common}/packed-refs`, mostListBytes)) ?? '');
  const shared = await looseReferences(common, budget);
  if (folder === common) return new Map([...packed, ...shared]);
  const own = await looseReferences(folder, budget);
  return new Map([
    ...[...packed, ...shared].filter(([name]) => !ownKinds.test(name)),
    ...own.filter(([name]) => ownKinds.test(name)),
  ]);
}

/** The object that a reference leads to, also through other references; null when it leads to none. */
export function resolveReference(references: References, name: BytePath): string | null {
  let found = references.get(name);
  for (let step = 0; step < mostSteps && found !== undefined; step += 1) {
    if ('id' in found) return found.id;
    found = references.get(found.to);
  }
  if (found === undefined) return null;
  throw notUnderstood(`The reference ${shown(name)} leads too far.`);
}

/** Parses the file of a reference: HEAD or a loose one. */
export function parseReference(text: BytePath, name: BytePath): Found[1] {
  const id = idIn(text);
  if (id !== null) return { id };
  const to = text.startsWith('ref:') ? text.slice('ref:'.length).trim() : '';
  if (to.startsWith('refs/') && to.length <= longestName && !hasControl.test(to) && !to.split('/').some(isNoPart))
    return { to };
  throw notUnderstood(`The reference ${shown(name)} is broken.`);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: no name of a reference has one.
const hasControl = /[\0-\x1f\x7f]/;

function isNoPart(part: string): boolean {
  return part === '' || part === '.' || part === '..';
}

async function looseReferences(home: BytePath, budget: { left: number }): Promise<Found[]> {
  if (!(await isFolder(`${home}/refs`))) return [];
  const found: Found[] = [];
  for await (const { path, entries } of walkFolders(`${home}/refs`, { budget, enters: () => true })) {
    const files = entries.filter((entry) => !entry.isDirectory() && !isOther(entry));
    for (let from = 0; from < files.length; from += readAtOnce) {
      const some = files.slice(from, from + readAtOnce);
      found.push(...(await Promise.all(some.map((entry) => looseReference(home, `${path}/${entry.name}`)))).flat());
    }
  }
  return found;
}

/** Locks, and leftovers of editors and file managers; git does not count them as references either. */
function isOther({ name }: Dirent): boolean {
  return name.startsWith('.') || name.endsWith('.lock');
}

async function looseReference(home: BytePath, file: BytePath): Promise<Found[]> {
  const name = file.slice(home.length + 1);
  const text = await textIn(file);
  return text === null ? [] : [[name, parseReference(text, name)]];
}

function packedReferences(text: BytePath): Found[] {
  const found: Found[] = [];
  for (const line of text.split('\n')) {
    // A line with `^` names the object of the tag before it.
    if (line === '' || line.startsWith('#') || line.startsWith('^')) continue;
    const id = idIn(line);
    if (id === null || !line.startsWith('refs/', id.length + 1)) throw notUnderstood('Its packed-refs are broken.');
    found.push([line.slice(id.length + 1), { id }]);
  }
  return found;
}
