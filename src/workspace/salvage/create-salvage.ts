import { mkdir, mkdtemp, readdir, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { BatonError, toBatonError } from '../../core/baton-error.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { deleteTree } from '../delete-tree.ts';
import { hasCode } from '../file-system.ts';
import type { Checkout } from '../git/checkout/checkout.ts';
import type { GitPlaces } from '../git/git-places.ts';
import type { BytePath } from '../walk-folders.ts';
import { readAgentOrigin } from './agent-origin.ts';
import { type ArchiveParts, dropArchive, listArchives, listMembers, saveArchive, unpackArchive } from './archives.ts';
import { chooseTarget } from './choose-target.ts';
import { TooLargeForLocal } from './copy-objects.ts';
import { findRepositories, type WorkspaceContents } from './find-repositories.ts';
import { measureSaved } from './prune-salvage.ts';
import { type Repository, readRepositories } from './repository.ts';
import { restoreCommit } from './restore-commit.ts';
import type { Salvage, SalvageRequest, SavedWork, SaveResult } from './salvage.ts';
import { shownPath, unsaved } from './salvage-errors.ts';
import type { SalvageParts } from './salvage-parts.ts';
import { emptyTrees, type SavedRepository, saveRepository } from './save-repository.ts';
import { type SavedCommit, savedCommits } from './saved-commits.ts';
import { allTargets, localTarget, rememberLocal, type Target } from './target.ts';
import { unusedSubmodules } from './unused-submodules.ts';

export function createSalvage(parts: SalvageParts): Salvage {
  const { git, places, project } = parts;
  const archives: ArchiveParts = { ...parts, folder: places.archives };
  const isOurs = (work: SavedWork): boolean => work.project === project || work.project === null;
  const list: Salvage['list'] = async (reach = { allProjects: false }) => {
    const works = [...(await allCommits(parts)).map(({ work }) => work), ...(await listArchives(archives))];
    const seen = reach.allProjects ? works : works.filter(isOurs);
    return seen.toSorted((one, other) => other.savedAt - one.savedAt || (one.name < other.name ? -1 : 1));
  };
  return {
    save: async (request) => {
      try {
        const found = await findRepositories(request.folder);
        const checkout = await parts.findCheckout(request.workspace);
        if (found.repositories.length === 0 && found.entries === 0 && checkout === null) return { outcome: 'nothing' };
        return await inScratch(places, (scratch) => save(request, { ...found, checkout }, scratch, parts, archives));
      } catch (error) {
        request.signal?.throwIfAborted();
        const cause = toBatonError(error);
        throw cause.code === 'salvage_failed' ? cause : unsaved('failed', cause.message.replace(/\.$/, ''), error);
      }
    },
    list,
    find: async (wanted, reach = { allProjects: false }) => {
      const works = await list({ allProjects: true });
      const found = findWork(reach.allProjects ? works : works.filter(isOurs), wanted);
      if (found !== undefined) return found;
      throw notFound(wanted, findWork(works, wanted)?.project ?? null);
    },
    diff: async (work, { stat }) => {
      if (work.kind === 'archive') return listMembers(work, archives);
      const { repository, commit, head } = work;
      const before = head ?? emptyTrees[commit?.length === 64 ? 'sha256' : 'sha1'];
      const shape = stat ? ['--stat=120'] : ['--binary'];
      const text = await git.run({
        gitDir: repository,
        args: ['diff', '--no-ext-diff', '--no-textconv', '--no-color', ...shape, before, commit ?? ''],
        maxOutputBytes: 256 * 1024 * 1024,
      });
      return Buffer.from(text, 'latin1').toString('utf8');
    },
    restore: async (work, folder) => {
      const made = await takeFolder(folder);
      try {
        if (work.kind === 'archive') {
          await unpackArchive(work, folder, archives);
          return { folder, branch: null, head: null, unstaged: null };
        }
        const saved = (await savedCommits(git, work.repository, parts.logger)).find(
          (each) => each.work.name === work.name,
        );
        if (saved === undefined)
          throw new BatonError('salvage_not_found', `The saved work "${work.name}" no longer exists.`);
        return await restoreCommit(git, saved, folder);
      } catch (error) {
        // Remove a half-restored folder. It was empty before.
        for (const name of await readdir(folder)) await deleteTree(path.join(folder, name));
        if (made) await rmdir(folder);
        throw error;
      }
    },
    drop: async (work) => {
      if (!isOurs(work)) throw notFound(work.name, work.project);
      if (work.kind === 'archive') return dropArchive(work);
      const { repository, reference, commit } = work;
      await git.run({ gitDir: repository, args: ['update-ref', '--no-deref', '-d', reference ?? '', commit ?? ''] });
    },
    measure: (works) => measureSaved(git, works),
    tidy: async () => {
      for (const gitDir of (await allTargets(places)).own) {
        await git.run({ gitDir, args: ['gc', '--quiet', '--prune=2.weeks.ago'], timeoutMs: 900_000 });
      }
    },
  };
}

async function save(
  request: SalvageRequest,
  { repositories: found, entries, looseFiles, checkout }: WorkspaceContents & { readonly checkout: Checkout | null },
  scratch: string,
  parts: SalvageParts,
  archives: ArchiveParts,
): Promise<SaveResult> {
  const { git, places, logger, clock } = parts;
  const { folder, workspace } = request;
  const own = { folder, workspace, checkout, state: path.dirname(places.scratch) };
  const withFiles = await readRepositories({ found, places: own, scratch });
  const repositories = [...withFiles, ...(await unusedSubmodules(withFiles))];
  if (repositories.length === 0) {
    if (entries === 0) return { outcome: 'nothing' };
    if (!parts.archive) return { outcome: 'not_wanted' };
    return { outcome: 'saved', works: [await saveArchive(request, { entries }, archives)] };
  }
  const hasRoot = withFiles.some(({ within }) => within === '');
  // Saved before the repositories, so that the newest entry of an issue is a repository.
  const archived =
    hasRoot || looseFiles.length === 0
      ? null
      : await saveLooseFiles(request, looseFiles, scratch, { ...archives, archive: parts.archive });
  const works: SavedWork[] = [];
  const forced: string[] = [];
  for (const [number, repository] of repositories.entries()) {
    request.signal?.throwIfAborted();
    const prefix = repository.within === '' ? '' : `${repository.within}/`;
    const wanted = {
      request,
      repository,
      number,
      origin: repository.within === '' ? await originOf(repository, parts) : null,
      forced: forced.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length)),
    };
    const saveInto = async (target: Target, folder: string): Promise<SavedRepository> => {
      if (!target.isOurs) await rememberLocal(places, target.gitDir);
      const saving = { git, logger, project: parts.project, now: () => clock.now() };
      return saveRepository({ ...wanted, target, scratch: path.join(scratch, folder) }, saving);
    };
    const target = await chooseTarget(repository, request, parts);
    const saved = saveInto(target, `repository-${number}`).catch(async (error: unknown) => {
      if (!(error instanceof TooLargeForLocal)) throw error;
      logger.warn('salvage_too_large', { repository: target.gitDir, workspace, bytes: error.bytes });
      return saveInto(await chooseTarget(repository, request, { ...parts, repo: null }), `repository-${number}-own`);
    });
    const { work, insideNested } = await saved;
    forced.push(...insideNested.map((name) => `${prefix}${name}`));
    if (work !== null) works.push(work);
  }
  if (archived !== null) works.push(archived);
  return works.length === 0 ? { outcome: 'nothing' } : { outcome: 'saved', works };
}

/** Saves files outside of all repositories, unless such a workspace is removed without saving them. */
async function saveLooseFiles(
  request: SalvageRequest,
  looseFiles: readonly BytePath[],
  scratch: string,
  archives: ArchiveParts & Pick<SalvageParts, 'archive'>,
): Promise<SavedWork> {
  if (archives.archive) {
    const only = await listFile(scratch, looseFiles);
    return saveArchive(request, { entries: looseFiles.length, only }, archives);
  }
  const [first = ''] = looseFiles;
  throw unsaved(
    'files_beside_repositories',
    `it has files outside of its repositories (${shownPath(first)}); set workspace.archive: true to save them too`,
  );
}

/** Passes the names to tar in a file, because arguments must be valid text. */
async function listFile(scratch: string, names: readonly BytePath[]): Promise<string> {
  const file = path.join(scratch, 'loose-files');
  await writeFile(file, Buffer.from(['.', ...names.map((name) => `./${name}`), ''].join('\0'), 'latin1'));
  return file;
}

/** The address from Baton or from the person comes first; the agent's is used only where there is no other. */
async function originOf({ checkout, directory }: Repository, { repo, git }: SalvageParts): Promise<string | null> {
  return checkout?.repository ?? repo?.shown ?? (await readAgentOrigin(git, directory));
}

/** The saved commits of every project. In the state folder, an entry without a project counts as this project's. */
async function allCommits(parts: SalvageParts): Promise<SavedCommit[]> {
  const { git, places, repo, logger } = parts;
  const { own, local } = await allTargets(places);
  const folders = new Set([...own, ...local]);
  if (repo?.isLocal === true) {
    const current = await localTarget(git, repo).catch((error: unknown) => {
      logger.warn('salvage_unreadable', { repository: repo.shown, error });
      return null;
    });
    if (current !== null) folders.add(current.gitDir);
  }
  const found: SavedCommit[] = [];
  for (const gitDir of folders) {
    try {
      const saved = await savedCommits(git, gitDir, logger);
      const project = own.includes(gitDir) ? parts.project : null;
      found.push(...saved.map(({ work, note }) => ({ note, work: { ...work, project: work.project ?? project } })));
    } catch (error) {
      logger.warn('salvage_unreadable', { repository: gitDir, error });
    }
  }
  return found;
}

async function inScratch<T>(places: GitPlaces, work: (scratch: string) => Promise<T>): Promise<T> {
  await mkdir(places.scratch, { recursive: true });
  const scratch = await mkdtemp(path.join(places.scratch, 'salvage-'));
  try {
    return await work(scratch);
  } finally {
    await deleteTree(scratch);
  }
}

/** Makes sure that the folder exists and is empty. True when it was created now. */
async function takeFolder(folder: string): Promise<boolean> {
  try {
    await mkdir(path.dirname(folder), { recursive: true });
    await mkdir(folder);
    return true;
  } catch (error) {
    if (!hasCode(error, 'EEXIST') && !hasCode(error, 'ENOTDIR')) throw error;
  }
  const names = await readdir(folder).catch(() => null);
  if (names?.length === 0) return false;
  throw new BatonError('restore_refused', `${folder} already exists and is not an empty folder.`);
}

/** Compares names of entries first, because an issue may have the name of an entry. */
function findWork(works: readonly SavedWork[], wanted: string): SavedWork | undefined {
  const isMeant = ({ issueId, issueIdentifier, name }: SavedWork): boolean =>
    issueId === wanted || issueIdentifier.toLowerCase() === wanted.toLowerCase() || name.startsWith(`${wanted}/`);
  return works.find(({ name }) => name === wanted) ?? works.find(isMeant);
}

/** Names the other project that has such saved work; null when there is none. */
function notFound(wanted: string, elsewhere: string | null): BatonError {
  const message = `There is no saved work "${wanted}", and none of an issue of that name`;
  if (elsewhere === null) return new BatonError('salvage_not_found', `${message}.`);
  return new BatonError(
    'salvage_not_found',
    `${message}, in this project; the project "${harmlessLine(elsewhere)}" has it.`,
    {
      details: { project: elsewhere },
      nextStep: 'Use the workflow file of that project, or add --all-projects.',
    },
  );
}
