import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { RepositorySettings } from '../../core/settings.ts';
import { hasCode, lstatOrNull } from '../file-system.ts';
import { writeBareRepository } from '../git/bare-repository.ts';
import { type Git, quotedByGit } from '../git/git.ts';
import { folderName, type GitPlaces } from '../git/git-places.ts';
import type { ObjectFormat } from '../git/shadow/shadow-git.ts';
import { writeDurably } from './write-durably.ts';

/** A repository that outlives workspaces and receives their work: the person's own, or Baton's in the state folder. */
export interface Target {
  readonly gitDir: string;
  readonly objectFormat: ObjectFormat;
  readonly isOurs: boolean;
  /** The largest pack that it takes at once. */
  readonly mostBytes: number;
  /** Git directories of caches from which it borrows; their objects need not be saved. */
  readonly caches: readonly string[];
}

/** A person's repository keeps objects for ever, and an agent decides how many there are. */
const mostLocalBytes = 100 * 1024 * 1024;

/**
 * The git directory of the person's local repository, shared by its worktrees. Rejects when it does not exist; a
 * repository in a folder above is another one, and is not used.
 */
export async function localTarget(
  git: Git,
  { location }: RepositorySettings,
  mostBytes = mostLocalBytes,
): Promise<Target> {
  const dotGit = path.join(location, '.git');
  const named = (await lstatOrNull(dotGit)) === null ? location : dotGit;
  const said = await git.run({
    args: ['--git-dir', named, 'rev-parse', '--path-format=absolute', '--git-common-dir', '--show-object-format'],
    gitDir: null,
  });
  const [gitDir = '', format] = Buffer.from(said, 'latin1').toString('utf8').trimEnd().split('\n');
  return { gitDir, objectFormat: format === 'sha256' ? 'sha256' : 'sha1', isOurs: false, mostBytes, caches: [] };
}

export interface OwnTargetRequest {
  readonly places: GitPlaces;
  readonly objectFormat: ObjectFormat;
  /** The caches that the repository to be saved came from. */
  readonly caches: readonly string[];
  /** Commits without parents, and the key of their workspace: such history gets a separate repository. */
  readonly shallow: { readonly key: string; readonly commits: readonly string[] } | null;
}

/** One of Baton's own repositories, created if missing. It borrows from the caches, which never drop objects. */
export async function ownTarget(request: OwnTargetRequest): Promise<Target> {
  const { places, objectFormat, caches, shallow } = request;
  const suffix = `${objectFormat === 'sha1' ? '' : `-${objectFormat}`}${shallow === null ? '' : `-shallow-${shallow.key}`}`;
  const gitDir = places.salvage.replace(/\.git$/, `${suffix}.git`);
  if ((await lstatOrNull(path.join(gitDir, 'HEAD'))) === null) {
    await mkdir(places.scratch, { recursive: true });
    const making = await mkdtemp(path.join(places.scratch, 'salvage-'));
    await writeBareRepository({ folder: making, objectFormat });
    await rename(making, gitDir).catch(async (error: unknown) => {
      await rm(making, { recursive: true, force: true });
      // Another process made it first.
      if (!hasCode(error, 'ENOTEMPTY') && !hasCode(error, 'EEXIST')) throw error;
    });
  }
  if (caches.length > 0) {
    await addLines(
      path.join(gitDir, 'objects', 'info', 'alternates'),
      caches.map((cache) => quotedByGit(path.join(cache, 'objects'))),
    );
  }
  if (shallow !== null) await addLines(path.join(gitDir, 'shallow'), shallow.commits);
  return { gitDir, objectFormat, isOurs: true, mostBytes: Number.POSITIVE_INFINITY, caches };
}

/** The existing caches of the sources with these shown locations, and those whose objects are borrowed. */
export async function cachesOf(
  places: GitPlaces,
  { shown, borrowed }: Record<'shown' | 'borrowed', readonly string[]>,
): Promise<string[]> {
  const named = shown.map((each) => path.join(places.caches, `${folderName(each, each)}.git`));
  const lent = borrowed
    .map((objects) => path.dirname(objects))
    .filter((folder) => path.dirname(folder) === places.caches);
  const found: string[] = [];
  for (const cache of new Set([...named, ...lent])) {
    if ((await lstatOrNull(path.join(cache, 'HEAD'))) !== null) found.push(cache);
  }
  return found;
}

/** Every repository that may have saved work: Baton's own, and the local ones of current and earlier settings. */
export async function allTargets(places: GitPlaces): Promise<{ own: string[]; local: string[] }> {
  const folder = path.dirname(places.salvage);
  const names = await readdir(folder).catch(absent([]));
  const own = names.filter((name) => /^salvage(?:-.+)?\.git$/.test(name)).toSorted();
  return { own: own.map((name) => path.join(folder, name)), local: await linesOf(localList(places)) };
}

/** Records that a local repository has saved work, so that Baton finds it when the settings name another. */
export async function rememberLocal(places: GitPlaces, gitDir: string): Promise<void> {
  await addLines(localList(places), [gitDir]);
}

function localList({ salvage }: GitPlaces): string {
  return path.join(path.dirname(salvage), 'salvaged-into');
}

const writing = new Map<string, Promise<void>>();

/** Adds the missing lines; changes of one file run one after another. */
function addLines(file: string, lines: readonly string[]): Promise<void> {
  const turn = (writing.get(file) ?? Promise.resolve()).then(async () => {
    const before = await linesOf(file);
    const missing = lines.filter((line) => !before.includes(line));
    if (missing.length === 0) return;
    await mkdir(path.dirname(file), { recursive: true });
    await writeDurably(file, [...before, ...missing].map((line) => `${line}\n`).join(''));
  });
  const settled = turn.catch(() => {});
  writing.set(file, settled);
  void settled.then(() => writing.get(file) === settled && writing.delete(file));
  return turn;
}

async function linesOf(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(absent(''));
  return text.split('\n').filter((line) => line !== '');
}

function absent<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (hasCode(error, 'ENOENT')) return value;
    throw error;
  };
}
