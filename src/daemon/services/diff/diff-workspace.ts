import path from 'node:path';
import type { Diff } from '../../../client/schema/run.ts';
import { lstatOrNull } from '../../../workspace/file-system.ts';
import type { Checkout } from '../../../workspace/git/checkout/checkout.ts';
import type { Git } from '../../../workspace/git/git.ts';
import type { GitPlaces } from '../../../workspace/git/git-places.ts';
import type { GitDirectory } from '../../../workspace/git/read/git-directory.ts';
import { nameText } from '../../../workspace/git/read/git-files.ts';
import { readGitDirectory } from '../../../workspace/git/read/read-git-directory.ts';
import { type IndexEntry, readIndex } from '../../../workspace/git/read/read-index.ts';
import { refuseTreeBomb } from '../../../workspace/git/shadow/refuse-tree-bomb.ts';
import { type Look, withShadow } from '../../../workspace/git/shadow/with-shadow.ts';
import { readPlainFile } from '../../../workspace/read-small-file.ts';
import { type BytePath, toBytePath } from '../../../workspace/walk-folders.ts';
import {
  bytesPerFile,
  type ChangedFile,
  changedRows,
  diffArguments,
  mostFiles,
  patchBudget,
  readRaw,
} from './diff-text.ts';
import { newFilePatch } from './new-file-patch.ts';
import { trackedPatches } from './tracked-patches.ts';

export interface DiffParts {
  readonly git: Git;
  readonly places: GitPlaces;
  readonly checkout: Checkout | null;
  readonly signal: AbortSignal;
}

const callMs = 20_000;
const listBytes = 16 * 1024 * 1024;
const mostIndexBytes = 64 * 1024 * 1024;

/**
 * The changes in a workspace against its base, committed or not. It reads through a shadow git directory
 * (`with-shadow.ts`), which ignores the settings and attributes that an agent wrote. The base is the one that the
 * evidence of a run uses. Rejects when the workspace cannot be read.
 */
export async function diffWorkspace(workspace: string, parts: DiffParts): Promise<Diff> {
  if (!(await lstatOrNull(workspace))?.isDirectory()) return noDiff('The workspace does not exist.');
  const directory = await readGitDirectory(path.join(workspace, '.git'));
  if (directory === null) return noDiff('The workspace is not a git repository.');
  const { git, places, checkout } = parts;
  return withShadow(workspace, directory, { git, places, checkout, timeoutMs: callMs }, async (look) => {
    const watched = { ...look, call: { ...look.call, signal: parts.signal } };
    return await diffThrough(workspace, directory, watched, parts);
  });
}

export function noDiff(why: string): Diff {
  return { base: null, head: null, branch: null, files: [], is_cut: false, why_none: why };
}

async function diffThrough(workspace: string, directory: GitDirectory, look: Look, parts: DiffParts): Promise<Diff> {
  const base = await baseOf(directory, look, parts);
  const index = await agentIndexOf(directory);
  const tracked = base === null ? [] : await changedFiles(base, index, look, parts);
  const fresh = await untrackedFiles(index, look, parts);
  const shown = tracked.slice(0, mostFiles);
  const shownFresh = fresh.slice(0, mostFiles - shown.length);
  const patches = base === null ? [] : await trackedPatches(base, tracked, shown, look, parts.git);
  const conflicts = new Set(index.filter(({ stage }) => stage > 0).map((entry) => entry.path));
  const fits = patchBudget();
  const files = changedRows(shown, patches, fits, (file) => conflicts.has(file));
  const root = toBytePath(workspace);
  for (const file of shownFresh) {
    parts.signal.throwIfAborted();
    const facts = await newFilePatch(root, file, bytesPerFile);
    files.push({ path: nameText(file), old_path: null, status: 'untracked', ...facts, patch: fits(facts.patch) });
  }
  return {
    base,
    head: directory.head,
    branch: directory.headReference?.replace(/^refs\/heads\//, '') ?? null,
    files,
    is_cut: tracked.length + fresh.length > files.length,
    why_none: null,
  };
}

/** The base that the evidence of a run uses; the last commit when that base is unknown or missing. */
async function baseOf(directory: GitDirectory, look: Look, { git, checkout }: DiffParts): Promise<string | null> {
  const { head, tips } = directory;
  const remote = tips.find(({ name }) => name === 'refs/remotes/origin/HEAD')?.id ?? null;
  const base = checkout?.baseCommit ?? remote;
  if (base === null || base === head) return head;
  const { code } = await git.ask({ ...look.call, args: ['cat-file', '-e', `${base}^{commit}`] });
  if (code !== 0) return head;
  if (base !== checkout?.baseCommit) await refuseTreeBomb(git, look.call, base);
  return base;
}

async function agentIndexOf({ folder, objectFormat }: GitDirectory): Promise<readonly IndexEntry[]> {
  const bytes = await readPlainFile(`${toBytePath(folder)}/index`, mostIndexBytes);
  return bytes === null ? [] : readIndex(bytes, objectFormat);
}

async function changedFiles(
  base: string,
  index: readonly IndexEntry[],
  look: Look,
  { git }: DiffParts,
): Promise<readonly ChangedFile[]> {
  const args = ['diff', '--raw', '-z', ...diffArguments, base, '--'];
  const files = readRaw(await git.run({ ...look.call, args, maxOutputBytes: listBytes }));
  // Files outside a sparse checkout are not deleted.
  const left = index.filter((entry) => entry.isSkipped).map((entry) => entry.path);
  if (left.length === 0) return files;
  const skipped = new Set(left.filter((each) => !each.endsWith('/')));
  const folders = left.filter((each) => each.endsWith('/'));
  const isSkipped = (file: BytePath): boolean => skipped.has(file) || folders.some((each) => file.startsWith(each));
  return files.filter(({ letter, path: file }) => letter !== 'D' || !isSkipped(file));
}

/**
 * Files that git neither knows nor ignores, and files that were added although they are ignored; no nested
 * repositories.
 */
async function untrackedFiles(
  index: readonly IndexEntry[],
  look: Look,
  { git }: DiffParts,
): Promise<readonly BytePath[]> {
  const list = (...args: string[]): Promise<string> =>
    git.run({ ...look.call, args: ['ls-files', '-z', ...args], maxOutputBytes: listBytes });
  const others = (await list('--others', '--exclude-standard')).split('\0').filter((file) => file !== '');
  const known = new Set([...(await list('--cached')).split('\0'), ...others]);
  const added = index.filter((entry) => !entry.isSkipped && entry.path !== '' && !known.has(entry.path));
  return [...new Set([...others, ...added.map((entry) => entry.path)])]
    .filter((file) => !file.endsWith('/'))
    .toSorted();
}
