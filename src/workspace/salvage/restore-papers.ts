import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { deleteTree } from '../delete-tree.ts';
import type { Git } from '../git/git.ts';
import type { Tip } from '../git/git-directory.ts';
import { objectsIn } from './objects-in.ts';
import type { NoteNames, SavedNote } from './saved-note.ts';

const mostListBytes = 256 * 1024 * 1024;

/** Makes the tags again, from their texts; a tag that does not become the same is left out. */
export async function putTags(git: Git, gitDir: string, { papers }: SavedNote): Promise<void> {
  if (papers === null) return;
  const listed = await git.ask({ gitDir, args: ['ls-tree', '-z', `${papers}:tags`], maxOutputBytes: mostListBytes });
  if (listed.code !== 0) return;
  const tags = listed.stdout.split('\0').flatMap((line) => [...line.matchAll(/ blob ([0-9a-f]+)\t([0-9a-f]+)$/g)]);
  if (tags.length === 0) return;
  const texts = await git.run({
    gitDir,
    args: ['cat-file', '--batch'],
    stdin: tags.map(([, blob = '']) => `${blob}\n`).join(''),
    maxOutputBytes: mostListBytes,
  });
  const folder = path.join(gitDir, 'baton-tags');
  await mkdir(folder);
  let count = 0;
  for (const { content } of objectsIn(texts)) {
    await writeFile(path.join(folder, `${count}`), Buffer.from(content, 'latin1'));
    count += 1;
  }
  await git.run({
    gitDir,
    args: ['hash-object', '-t', 'tag', '-w', '--literally', '--no-filters', '--stdin-paths'],
    stdin: Array.from({ length: count }, (_, number) => `baton-tags/${number}\n`).join(''),
    maxOutputBytes: mostListBytes,
  });
  await deleteTree(folder);
}

/** The names of a note, also where they are too long for it. */
export async function namesOf(git: Git, source: string, { papers, tips }: SavedNote): Promise<readonly Tip[]> {
  if (papers === null) return tips;
  const { code, stdout } = await git.ask({
    gitDir: source,
    args: ['cat-file', 'blob', `${papers}:names`],
    maxOutputBytes: mostListBytes,
  });
  if (code !== 0) return tips;
  // Only Baton wrote it.
  return (JSON.parse(stdout) as NoteNames).tips;
}
