import { access, constants, stat } from 'node:fs/promises';
import path from 'node:path';
import { toBatonError } from '../../core/baton-error.ts';
import { type Finding, failed, failedBy, passed } from '../../core/finding.ts';
import type { RepositorySettings } from '../../core/settings.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { hasCode } from '../../workspace/file-system.ts';
import type { Git } from '../../workspace/git/git.ts';
import { findCommonDirectory } from '../../workspace/git/source/source-repository.ts';

const check = 'repository_write';

/** Where git writes when a branch moves or work is saved. Missing folders are created inside one of the others. */
const writtenFolders = [
  ...['', 'objects', 'objects/pack', 'refs', 'refs/heads', 'refs/baton', 'refs/baton/salvage', 'reftable'],
  ...['logs', 'logs/refs', 'logs/refs/heads'],
];

/**
 * Whether Baton can publish branches and saved work to a local repository: its folders are writable, and no reference
 * occupies a name that they need as a folder. Only reads. `branchTemplate` is null when Baton makes no branches.
 */
export async function checkRepositoryWrites(
  git: Git,
  repo: RepositorySettings,
  branchTemplate: string | null,
): Promise<Finding> {
  try {
    const common = await findCommonDirectory(git, repo.location);
    const branchFolders = branchTemplate === null ? [] : fixedFolders(branchTemplate);
    const below = branchFolders.flatMap((each) => [`refs/heads/${each}`, `logs/refs/heads/${each}`]);
    for (const folder of [...writtenFolders, ...below]) {
      const reason = await whyNotWritable(path.join(common, folder));
      if (reason === null) continue;
      const fix = `give the user that runs Baton write access to ${harmlessLine(common)} and everything in it`;
      const unwritable = path.join(common, folder);
      const facts = { code: 'not_writable', path: unwritable };
      return failed(check, harmlessLine(`${unwritable} is not writable: ${reason}`), fix, facts);
    }
    const wanted = ['refs/baton', 'refs/baton/salvage', ...branchFolders.map((each) => `refs/heads/${each}`)];
    const taken = await firstExisting(git, common, wanted);
    if (taken !== null) return nameTaken(harmlessLine(taken));
    const what = branchTemplate === null ? 'saved work (refs/baton)' : 'branches and saved work (refs/baton)';
    return passed(check, harmlessLine(`Baton can write ${what} to ${common}`), {
      path: common,
      branches: branchTemplate !== null,
    });
  } catch (error) {
    return failedBy(check, error);
  }
}

/** The folders that contain every branch of this template: `a/b/{{ x }}` is in `a` and in `a/b`. */
function fixedFolders(template: string): string[] {
  const fixed = template.split(/\{[{%]/)[0] ?? '';
  const steps = fixed.trimStart().split('/').slice(0, -1);
  return steps.map((_step, index) => steps.slice(0, index + 1).join('/')).filter((each) => each !== '');
}

async function whyNotWritable(folder: string): Promise<string | null> {
  try {
    if ((await stat(folder)).isDirectory()) await access(folder, constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    // A file in place of a folder is a reference, or does not concern Baton.
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return null;
    return hasCode(error, 'EROFS') ? 'its file system is read-only' : toBatonError(error).message;
  }
}

async function firstExisting(git: Git, common: string, wanted: readonly string[]): Promise<string | null> {
  const listed = await git.run({ args: ['for-each-ref', '--format=%(refname)', ...wanted], gitDir: common });
  const names = Buffer.from(listed, 'latin1').toString('utf8').split('\n');
  return wanted.find((each) => names.includes(each)) ?? null;
}

function nameTaken(reference: string): Finding {
  const branch = /^refs\/heads\/(.+)$/.exec(reference)?.[1];
  const facts = { code: 'name_taken', reference };
  if (branch === undefined) {
    const message = `the reference ${reference} exists, so git cannot create ${reference}/… for saved work`;
    return failed(check, message, 'rename that reference', facts);
  }
  const message = `the branch ${branch} exists, so git cannot create branches named ${branch}/…`;
  return failed(check, message, 'rename that branch (git branch -m), or change workspace.branch', facts);
}
