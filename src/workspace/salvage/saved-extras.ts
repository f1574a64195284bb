import { mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import type { Git, GitCall } from '../git/git.ts';
import { type BytePath, fromBytePath } from '../walk-folders.ts';
import { joined } from './path-in-tree.ts';
import type { NoteNames, SavedNote } from './saved-note.ts';

/**
 * The parts of saved work that are neither files nor commits, as a tree behind the saved commit. Baton does not
 * interpret them; git wrote them and git reads them again:
 *
 * - `objects.pack`: the tags, files and trees that names held, and the sides of files in conflict;
 * - `conflicts`: the entries of files in conflict, as `git update-index --index-info` takes them;
 * - `names`: names that are too long for the note of the saved commit, as JSON.
 */
export interface SavedExtras {
  readonly held: readonly string[];
  /** Commits that are saved as commits; their objects are not packed again. */
  readonly commits: readonly string[];
  readonly conflicts: readonly BytePath[];
  readonly names: string | null;
}

/** The mode of a commit of another repository. */
const gitlink = '160000';

const mostListBytes = 256 * 1024 * 1024;

/** Writes the tree. Null when there is nothing to keep. The same extras are the same tree. */
export async function writeExtras(
  git: Git,
  { held, commits, conflicts, names }: SavedExtras,
  call: Omit<GitCall, 'args'>,
  scratch: string,
): Promise<string | null> {
  const sides = conflicts.filter((entry) => !entry.startsWith(gitlink)).map((entry) => entry.split(' ')[1] ?? '');
  const objects = [...held, ...new Set(sides)];
  const entries: string[] = [];
  const add = async (name: string, args: readonly string[], stdin?: Uint8Array): Promise<void> => {
    const id = await git.run({ ...call, args: ['hash-object', '-w', '--no-filters', ...args], stdin });
    entries.push(`100644 blob ${id.trim()}\t${name}\0`);
  };
  if (objects.length > 0) {
    const folder = path.join(scratch, 'extras');
    await mkdir(folder, { recursive: true });
    const name = await git.run({
      ...call,
      // The same objects are the same bytes, however the agent's repository keeps them.
      args: ['pack-objects', '--revs', '--quiet', '--window=0', '--threads=1', '--no-reuse-object', `${folder}/pack`],
      stdin: [...objects, ...commits.map((id) => `^${id}`), ''].join('\n'),
    });
    await add('objects.pack', ['--', path.join(folder, `pack-${name.trim()}.pack`)]);
  }
  if (conflicts.length > 0) {
    // An existing entry of the same name is removed first.
    const gone = conflicts.map((entry) => entry.replace(/^\d+ (\S+) \d/, (_all, id) => `0 ${'0'.repeat(id.length)}`));
    await add('conflicts', ['--stdin'], fromBytePath(joined([...new Set(gone), ...conflicts])));
  }
  if (names !== null) await add('names', ['--stdin'], Buffer.from(names));
  if (entries.length === 0) return null;
  return (await git.run({ ...call, args: ['mktree', '-z'], stdin: entries.join('') })).trim();
}

/** Puts the objects into a restored repository. */
export async function unpackExtras(git: Git, gitDir: string, { extras }: SavedNote): Promise<void> {
  if (extras === null) return;
  const found = await git.ask({ gitDir, args: ['rev-parse', '--verify', '--quiet', `${extras}:objects.pack`] });
  if (found.code !== 0) return;
  const file = path.join(gitDir, (await git.run({ gitDir, args: ['unpack-file', found.stdout.trim()] })).trim());
  const pack = path.join(gitDir, 'objects', 'pack', `pack-${found.stdout.trim()}`);
  await git.run({ gitDir, args: ['index-pack', '-o', `${pack}.idx`, file] });
  await rename(file, `${pack}.pack`);
}

/** Puts the files in conflict into a restored index, as far as git takes their names. */
export async function restoreConflicts(git: Git, call: Omit<GitCall, 'args'>, { extras }: SavedNote): Promise<void> {
  const found = await readExtra(git, call.gitDir, extras, 'conflicts');
  if (found === null) return;
  await git.ask({ ...call, args: ['update-index', '-z', '--index-info'], stdin: fromBytePath(found) });
}

/** The names of a note, also where they are too long for it. */
export async function namesOf(git: Git, source: string, note: SavedNote): Promise<NoteNames> {
  const text = await readExtra(git, source, note.extras, 'names');
  // Only Baton wrote it.
  return text === null ? note : (JSON.parse(text) as NoteNames);
}

async function readExtra(git: Git, gitDir: string | null, extras: string | null, name: string): Promise<string | null> {
  if (extras === null) return null;
  const args = ['cat-file', 'blob', `${extras}:${name}`];
  const { code, stdout } = await git.ask({ gitDir, args, maxOutputBytes: mostListBytes });
  return code === 0 ? stdout : null;
}
