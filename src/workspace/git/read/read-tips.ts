import { type BytePath, walkFolders } from '../../walk-folders.ts';
import type { Tip } from './git-directory.ts';
import { idIn, isFolderIn, isNoId, mostListBytes, nameText, notUnderstood, textIn } from './git-files.ts';

/** Files with commits of an unfinished operation: a merge, a rebase, a pick, and the changes stashed for it. */
const heads: readonly string[] = [
  ...['ORIG_HEAD', 'MERGE_HEAD', 'REBASE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'BISECT_HEAD', 'MERGE_AUTOSTASH'],
  ...['rebase-merge/orig-head', 'rebase-merge/stopped-sha', 'rebase-merge/amend', 'rebase-merge/autostash'],
  ...['rebase-apply/orig-head', 'rebase-apply/autostash', 'sequencer/head'],
];

/** Files of a git directory that contain commits and are not references; no git command lists all of them. */
export async function readHeads(folder: BytePath): Promise<readonly Tip[]> {
  const tips: Tip[] = [];
  const texts = heads.map(async (name) =>
    (await isFolderIn(folder, ...name.split('/').slice(0, -1))) ? await textIn(`${folder}/${name}`) : null,
  );
  for (const [at, text] of (await Promise.all(texts)).entries()) {
    const name = heads[at] ?? '';
    for (const line of text?.split('\n') ?? []) {
      if (line.trim() === '') continue;
      const id = idIn(line);
      if (id === null) throw notUnderstood(`Its ${name} is broken.`);
      tips.push({ name, id });
    }
  }
  return tips;
}

/** Each entry of the stash; the newest one is also a reference. */
export async function readStash(common: BytePath): Promise<readonly Tip[]> {
  const ids = await readLog(common, ['logs', 'refs'], 'stash');
  return ids.map((id, index) => ({ name: `stash@{${index}}`, id }));
}

/** The commits where HEAD has been, newest first. */
export async function readPast(folder: BytePath): Promise<readonly string[]> {
  return [...new Set(await readLog(folder, ['logs'], 'HEAD'))];
}

/** Commits that only the linked worktrees of a repository have. */
export async function readWorktreeHeads(common: BytePath, budget: { left: number }): Promise<readonly Tip[]> {
  if (!(await isFolderIn(common, 'worktrees'))) return [];
  const tips: Tip[] = [];
  const worktrees = `${common}/worktrees`;
  for await (const { path } of walkFolders(worktrees, { budget, enters: (_name, folder) => folder === worktrees })) {
    const id = path === worktrees ? null : idIn((await textIn(`${path}/HEAD`)) ?? '');
    if (id !== null) tips.push({ name: `${nameText(path.slice(common.length + 1))}/HEAD`, id });
  }
  return tips;
}

/** The new value of each line, newest first. */
async function readLog(home: BytePath, folders: readonly string[], name: string): Promise<readonly string[]> {
  if (!(await isFolderIn(home, ...folders))) return [];
  const text = (await textIn([home, ...folders, name].join('/'), mostListBytes)) ?? '';
  const ids: string[] = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const before = idIn(line);
    const id = before === null ? null : idIn(line.slice(before.length + 1));
    if (id === null) throw notUnderstood(`Its log of ${name} is broken.`);
    if (!isNoId(id)) ids.push(id);
  }
  return ids.reverse();
}
