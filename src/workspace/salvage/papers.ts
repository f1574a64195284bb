import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Git, GitCall } from '../git/git.ts';
import { type ObjectFormat, setLens } from '../git/lens.ts';
import type { Conflict } from './agent-index.ts';
import type { Besides } from './besides.ts';
import type { ObjectStore } from './repository.ts';

/**
 * What belongs to saved work and is neither a file nor a commit, as a tree behind the saved commit:
 *
 * - `tags/<id>`: the text of each tag, from which the same tag is made again;
 * - `objects/<id>`: files and trees that a name held;
 * - `conflicts/<id>` and `conflicts/list`: the stages of files in conflict, and what `git ls-files -u -z` says of them;
 * - `names`: what is too long for the note of the saved commit, as JSON.
 */
export interface Papers {
  readonly besides: Besides;
  readonly conflicts: readonly Conflict[];
  readonly names: string | null;
}

export interface PapersPlace {
  readonly objectFormat: ObjectFormat;
  readonly scratch: string;
  readonly store: ObjectStore;
  readonly signal: AbortSignal | undefined;
}

/** The mode of a commit of another repository. */
const gitlink = '160000';

/** Writes the tree. Null when there is nothing to keep. The same papers are the same tree. */
export async function writePapers(git: Git, papers: Papers, place: PapersPlace): Promise<string | null> {
  const { besides, conflicts, names } = papers;
  if (besides.tags.size + besides.objects.size + conflicts.length === 0 && names === null) return null;
  const { scratch, store, objectFormat, signal } = place;
  const lens = await setLens({ folder: path.join(scratch, 'papers'), head: null, objectFormat });
  const call: Omit<GitCall, 'args'> = {
    gitDir: lens.folder,
    ...store,
    settings: ['core.fsync=none'],
    maxOutputBytes: 256 * 1024 * 1024,
    ...(signal === undefined ? {} : { signal }),
  };

  const texts = new Map([...besides.tags].map(([id, text]) => [`tag-${id}`, text]));
  if (conflicts.length > 0) {
    const lines = conflicts.map(({ mode, id, stage, path: name }) => `${mode} ${id} ${stage}\t${name}\0`);
    texts.set('list', lines.join(''));
  }
  if (names !== null) texts.set('names', names);
  const blobs = await writeTexts(git, call, path.join(lens.folder, 'texts'), texts);
  const blobOf = (name: string): string => `100644 blob ${blobs.get(name) ?? ''}`;

  const tags = [...besides.tags.keys()].map((id) => `${blobOf(`tag-${id}`)}\t${id}`);
  const objects = [...besides.objects].map(
    ([id, type]) => `${type === 'tree' ? '040000' : '100644'} ${type} ${id}\t${id}`,
  );
  const stages = [...new Set(conflicts.filter(({ mode }) => mode !== gitlink).map(({ id }) => id))];
  const list = conflicts.length === 0 ? [] : [`${blobOf('list')}\tlist`];
  const trees = {
    tags,
    objects,
    conflicts: [...stages.map((id) => `100644 blob ${id}\t${id}`), ...list],
  };
  const top: string[] = names === null ? [] : [`${blobOf('names')}\tnames`];
  for (const [name, entries] of Object.entries(trees)) {
    if (entries.length > 0) top.push(`040000 tree ${await writeTree(git, call, entries)}\t${name}`);
  }
  return writeTree(git, call, top);
}

async function writeTree(git: Git, call: Omit<GitCall, 'args'>, entries: readonly string[]): Promise<string> {
  return (
    await git.run({ ...call, args: ['mktree', '-z'], stdin: entries.map((each) => `${each}\0`).join('') })
  ).trim();
}

/** Through files: what is given to a program directly would have to be text. */
async function writeTexts(
  git: Git,
  call: Omit<GitCall, 'args'>,
  folder: string,
  texts: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  if (texts.size === 0) return new Map();
  await mkdir(folder, { recursive: true });
  for (const [name, text] of texts) await writeFile(path.join(folder, name), Buffer.from(text, 'latin1'));
  const names = [...texts.keys()];
  const ids = await git.run({
    ...call,
    args: ['hash-object', '-w', '--no-filters', '--stdin-paths'],
    stdin: names.map((name) => `texts/${name}\n`).join(''),
  });
  const lines = ids.split('\n');
  return new Map(names.map((name, index) => [name, lines[index] ?? '']));
}
