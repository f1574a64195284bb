import path from 'node:path';
import { lstatOrNull } from '../file-system.ts';
import { readGitDirectory } from '../git/read/read-git-directory.ts';
import { examineGit, type GitExamination } from '../git/shadow/examine-git.ts';
import type { WorkspaceFacts } from '../workspace.ts';
import { fingerprintTree } from './fingerprint-tree.ts';

/**
 * The current content of a workspace: by git if it is a repository; by names, sizes and times otherwise, and also
 * if its git directory or its files are not understood. Null when it could not be read completely. Never rejects,
 * runs nothing from the workspace and changes nothing in it.
 */
export async function examineWorkspace(workspace: string, examination: GitExamination): Promise<WorkspaceFacts | null> {
  return (await gitFacts(workspace, examination).catch(() => null)) ?? (await treeFacts(workspace));
}

async function gitFacts(workspace: string, examination: GitExamination): Promise<WorkspaceFacts | null> {
  if (!(await lstatOrNull(workspace))?.isDirectory()) return null;
  const directory = await readGitDirectory(path.join(workspace, '.git'));
  if (directory === null) return null;
  examination.onRead?.(directory);
  return await examineGit(workspace, directory, examination);
}

async function treeFacts(workspace: string): Promise<WorkspaceFacts | null> {
  const fingerprint = await fingerprintTree(workspace);
  return fingerprint === null ? null : { fingerprint, git: null };
}
