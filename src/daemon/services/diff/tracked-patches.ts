import { BatonError } from '../../../core/baton-error.ts';
import type { Git } from '../../../workspace/git/git.ts';
import type { Look } from '../../../workspace/git/shadow/with-shadow.ts';
import { type BytePath, fromBytePath } from '../../../workspace/walk-folders.ts';
import {
  bytesPerFile,
  type ChangedFile,
  diffArguments,
  noPatch,
  type PatchFacts,
  patchFacts,
  splitPatch,
} from './diff-text.ts';

/** The most bytes to read at once. When there are more, files are read one by one, at most `filesOneByOne`. */
const bytesAtOnce = 4 * 1024 * 1024;
const filesOneByOne = 40;

/** The patches of the shown files among all changed ones, in order. */
export async function trackedPatches(
  base: string,
  all: readonly ChangedFile[],
  shown: readonly ChangedFile[],
  look: Look,
  git: Git,
): Promise<readonly PatchFacts[]> {
  if (shown.length === 0) return [];
  // Always as text: the content decides whether a file is binary, not the attributes of its repository.
  const patchOf = (paths: readonly string[], maxOutputBytes: number): Promise<string | null> =>
    unlessTooMuch(
      git.run({
        ...look.call,
        args: ['--literal-pathspecs', 'diff', '--patch', '--text', ...diffArguments, base, '--', ...paths],
        maxOutputBytes,
      }),
    );
  const together = await patchOf([], bytesAtOnce);
  const parts = together === null ? null : splitPatch(together, all);
  if (parts !== null) return shown.map((_, at) => patchFacts(parts[at] ?? '', bytesPerFile));
  const found: PatchFacts[] = [];
  for (const file of shown.slice(0, filesOneByOne)) {
    const paths = [file.path, ...(file.oldPath === null ? [] : [file.oldPath])].map(asArgument);
    const patch = paths.every((each) => each !== null) ? await patchOf(paths, 2 * bytesPerFile) : null;
    found.push(patch === null ? noPatch : patchFacts(patch, bytesPerFile));
  }
  return found;
}

/** A name that is not valid text cannot be an argument of a program. */
function asArgument(file: BytePath): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(fromBytePath(file));
  } catch {
    return null;
  }
}

async function unlessTooMuch(patch: Promise<string>): Promise<string | null> {
  try {
    return await patch;
  } catch (error) {
    if (error instanceof BatonError && error.code === 'git_failed') return null;
    throw error;
  }
}
