import { readdir, readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../../core/baton-error.ts';
import { harmlessLine } from '../../../core/text/harmless-line.ts';
import { hasCode, lstatOrNull } from '../../file-system.ts';
import type { Git } from '../git.ts';

/** The git directory of a local repository that holds its references and objects. It is the person's own. */
export async function findCommonDirectory(git: Git, location: string): Promise<string> {
  const dotGit = path.join(location, '.git');
  const gitDir = (await lstatOrNull(dotGit)) === null ? location : dotGit;
  if (await hasReferences(gitDir)) return await realpath(gitDir);
  const { code, stdout, stderr } = await git.ask({
    args: ['--git-dir', gitDir, 'rev-parse', '--path-format=absolute', '--git-common-dir'],
    gitDir: null,
  });
  const found = Buffer.from(stdout, 'latin1').toString('utf8').replace(/\n$/, '');
  if (code === 0 && path.isAbsolute(found)) return found;
  throw new BatonError(
    'repository_unavailable',
    `${location} is not a git repository. git said: ${harmlessLine(stderr)}`,
    {
      details: { repository: location, problem: 'not_a_repository' },
    },
  );
}

/** The usual case, seen without a call of git: references and objects of its own. A linked worktree has neither. */
async function hasReferences(gitDir: string): Promise<boolean> {
  const head = await readFile(path.join(gitDir, 'HEAD'), 'utf8').catch(() => '');
  if (!/^(?:ref:\s*refs\/|[0-9a-f]{40})/.test(head)) return false;
  const parts = ['objects', 'refs', 'commondir'].map((name) => path.join(gitDir, name));
  const [objects, refs, commondir] = await Promise.all(parts.map((part) => lstatOrNull(part).catch(() => null)));
  return objects?.isDirectory() === true && refs?.isDirectory() === true && !commondir;
}

export interface BranchState {
  /** The commit; null when there is no such branch. */
  readonly commit: string | null;
  /** The worktree that has the branch checked out, or is in the middle of a rebase or bisection of it. */
  readonly usedIn: string | null;
}

export async function readBranch(git: Git, common: string, branch: string): Promise<BranchState> {
  const reference = `refs/heads/${branch}`;
  if (await isNowhere(common, reference)) return { commit: null, usedIn: await halfwayIn(common, reference) };
  const format = '%(refname)%00%(objectname)%00%(worktreepath)%00';
  const listed = await git.run({ args: ['for-each-ref', `--format=${format}`, reference], gitDir: common });
  const fields = Buffer.from(listed, 'latin1').toString('utf8').split('\n');
  const found = fields.map((line) => line.split('\0')).find(([name]) => name === reference);
  const checkedOut = found?.[2] === undefined || found[2] === '' ? null : found[2];
  return { commit: found?.[1] ?? null, usedIn: checkedOut ?? (await halfwayIn(common, reference)) };
}

/**
 * Whether no file has the reference: the usual case before the first publication of a branch. False where git has to say.
 * A reference that git packs meanwhile is in the packed ones before its own file is gone.
 */
async function isNowhere(common: string, reference: string): Promise<boolean> {
  try {
    for (const name of ['reftable', reference]) if ((await lstatOrNull(path.join(common, name))) !== null) return false;
    return !(await readFile(path.join(common, 'packed-refs'))).includes(` ${reference}\n`);
  } catch (error) {
    return hasCode(error, 'ENOENT');
  }
}

/** The commits of those branches that are there. Files are read without git where that is enough. */
export async function readBranches(
  git: Git,
  common: string,
  branches: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const names = [...new Set(branches)];
  const ids = await Promise.all(names.map((name) => looseCommit(common, name)));
  const found = new Map(names.flatMap((name, at) => (ids[at] == null ? [] : [[name, ids[at]] as const])));
  if (found.size === names.length) return found;
  const references = names.map((name) => `refs/heads/${name}`);
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', ...references];
  const listed = Buffer.from(await git.run({ args, gitDir: common }), 'latin1').toString('utf8');
  const lines = listed.split('\n').map((line) => line.split(' '));
  return new Map(
    lines.flatMap(([id = '', name = '']) =>
      references.includes(name) ? [[name.slice('refs/heads/'.length), id]] : [],
    ),
  );
}

/** Null unless the branch has a file of its own with an id in it: packed references, tables and links are git's to read. */
async function looseCommit(common: string, branch: string): Promise<string | null> {
  const text = await readFile(path.join(common, 'refs', 'heads', branch), 'utf8').catch(() => '');
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})\n?$/.test(text) ? text.trim() : null;
}

/** During these operations HEAD is detached, and at their end git moves the branch. */
const namesBranch = ['HEAD', 'rebase-merge/head-name', 'rebase-apply/head-name', 'BISECT_START'];

async function halfwayIn(common: string, reference: string): Promise<string | null> {
  const worktrees = path.join(common, 'worktrees');
  const linked = (await lstatOrNull(worktrees))?.isDirectory() === true ? await readdir(worktrees) : [];
  const isBare = !(await lstatOrNull(path.join(common, 'index'))) && path.basename(common) !== '.git';
  for (const folder of [common, ...linked.map((name) => path.join(worktrees, name))]) {
    for (const name of namesBranch) {
      // The HEAD of a bare repository is only its default branch.
      if (name === 'HEAD' && folder === common && isBare) continue;
      const text = (await readFile(path.join(folder, name), 'utf8').catch(() => '')).trim();
      if ([reference, `ref: ${reference}`, reference.slice('refs/heads/'.length)].includes(text)) return folder;
    }
  }
  return null;
}
