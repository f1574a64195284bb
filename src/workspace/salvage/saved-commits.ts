import type { Logger } from '../../core/logger.ts';
import type { Git } from '../git/git.ts';
import type { SavedWork } from './salvage.ts';
import { noteIn, type SavedNote, savedWork } from './saved-note.ts';

/** The references of saved work in a repository. Baton keeps nothing else there. */
export const salvageReferences = 'refs/baton/salvage/';

export interface SavedCommit {
  readonly work: SavedWork;
  readonly note: SavedNote;
}

/** Notes are read in batches of this many bytes; a longer text is not a note. */
const mostNoteBytes = 32 * 1024 * 1024;

/**
 * The saved work in a repository, of one workspace key or of all. A foreign entry under Baton's name is logged; it
 * never hides the rest.
 */
export async function savedCommits(git: Git, gitDir: string, logger: Logger, key = ''): Promise<SavedCommit[]> {
  const listed = await git.run({
    gitDir,
    args: [
      'for-each-ref',
      '--format=%(refname) %(objectname) %(objectsize)',
      `${salvageReferences}${key === '' ? '' : `${key}/`}`,
    ],
  });
  const lines = listed.split('\n').filter((line) => line !== '');
  const entries = lines.map((line) => {
    const [reference = '', commit = '', size = ''] = line.split(' ');
    return { reference, commit, size: Number(size) };
  });
  const messages = await messagesOf(git, gitDir, entries);
  const found: SavedCommit[] = [];
  for (const { reference, commit } of entries) {
    const note = noteIn(messages.get(commit) ?? '');
    const name = reference.slice(salvageReferences.length);
    if (note === null) logger.warn('salvage_ref_foreign', { repository: gitDir, reference });
    else found.push({ note, work: savedWork(note, { name, repository: gitDir, reference, commit }) });
  }
  return found;
}

interface Entry {
  readonly commit: string;
  readonly size: number;
}

/** The messages of these commits, without those that are too long. */
async function messagesOf(git: Git, gitDir: string, entries: readonly Entry[]): Promise<Map<string, string>> {
  const messages = new Map<string, string>();
  for (const commits of groups(entries.filter(({ size }) => size <= mostNoteBytes))) {
    const text = await git.run({ gitDir, args: ['cat-file', '--batch'], stdin: `${commits.join('\n')}\n` });
    for (const { id, type, content } of objectsIn(text)) if (type === 'commit') messages.set(id, content);
  }
  return messages;
}

function groups(entries: readonly Entry[]): string[][] {
  const found: string[][] = [];
  let left = 0;
  for (const { commit, size } of entries) {
    if (left < size) {
      found.push([]);
      left = mostNoteBytes;
    }
    found.at(-1)?.push(commit);
    left -= size;
  }
  return found;
}

/** A part of a reference's name. A dot stays only where git accepts it. */
export function referencePart(text: string): string {
  const safe = text.replaceAll(/[^A-Za-z0-9._-]/gu, (character) => `%${Buffer.from(character).toString('hex')}`);
  const isBad = safe === '' || /^[.-]|\.\.|\.$|\.lock$/.test(safe);
  return isBad ? `%${safe.replaceAll('.', '%2e')}` : safe;
}

export interface ReadObject {
  readonly id: string;
  readonly type: string;
  /** One character per byte. */
  readonly content: string;
}

/** The objects in the output of `git cat-file --batch`; missing ones are left out. It ends at a line that git does not write. */
export function* objectsIn(text: string): Generator<ReadObject> {
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf('\n', at);
    if (end < 0) return;
    const [id = '', type = '', size] = text.slice(at, end).split(' ');
    at = end + 1;
    if (size === undefined) continue;
    const length = Number(size);
    if (!Number.isSafeInteger(length) || length < 0) return;
    yield { id, type, content: text.slice(at, at + length) };
    at += length + 1;
  }
}
