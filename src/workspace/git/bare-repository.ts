import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { quotedByGit } from './git.ts';
import { type ObjectFormat, plainConfig } from './shadow/shadow-git.ts';

export interface BareRepository {
  readonly folder: string;
  readonly objectFormat: ObjectFormat;
  /** Each with the commit it names. */
  readonly references?: Readonly<Record<string, string>>;
  /** Object directories to borrow from. */
  readonly alternates?: readonly string[];
}

/** A repository of Baton's own without a work tree, written by hand: no template, no hook, no program. */
export async function writeBareRepository(repository: BareRepository): Promise<void> {
  const { folder, objectFormat, references = {}, alternates = [] } = repository;
  await mkdir(path.join(folder, 'refs'), { recursive: true });
  await mkdir(path.join(folder, 'objects', 'pack'), { recursive: true });
  await mkdir(path.join(folder, 'objects', 'info'), { recursive: true });
  // A client may fetch a commit that a branch pointed to a moment ago, even if the branch has moved since.
  const config = `${plainConfig(objectFormat).replace('bare = false', 'bare = true')}[uploadpack]\n\tallowAnySHA1InWant = true\n`;
  await writeFile(path.join(folder, 'config'), config);
  await writeFile(path.join(folder, 'packed-refs'), packedReferences(references));
  await writeAlternates(folder, alternates);
  // The last: without it git sees no repository here.
  await writeFile(path.join(folder, 'HEAD'), 'ref: refs/heads/unborn\n');
}

/** References in git's single-file format, where `a` and `a/b` can both exist. */
export function packedReferences(references: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(references).sort(([one], [other]) =>
    Buffer.compare(Buffer.from(one), Buffer.from(other)),
  );
  // The header does not say "peeled", because there may be tags in it.
  return ['# pack-refs with: sorted ', ...sorted.map(([name, id]) => `${id} ${name}`), ''].join('\n');
}

/** Where a git directory fetches from, in its configuration. */
export function originConfig(url: string): string {
  return `[remote "origin"]\n\turl = ${quotedByGit(url)}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n`;
}

/**
 * The folders that a git directory borrows from. Only odd paths are quoted: not every reader of this file knows quotes.
 */
export async function writeAlternates(gitDir: string, folders: readonly string[]): Promise<void> {
  if (folders.length === 0) return;
  const lines = folders.map((folder) => (/["\\\n#]/.test(folder) ? quotedByGit(folder) : folder));
  await writeFile(path.join(gitDir, 'objects', 'info', 'alternates'), lines.map((line) => `${line}\n`).join(''));
}
