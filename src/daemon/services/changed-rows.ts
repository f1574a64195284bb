import type { Diff } from '../../client/schema/run.ts';
import { nameText } from '../../workspace/git/read/git-files.ts';
import type { ChangedFile, PatchFacts } from './diff-text.ts';

/** What a diff shows at most: files, and bytes of all. */
export const mostFiles = 300;
const bytesInAll = 2 * 1024 * 1024;

/** Lets patches through until there is no room left for any more. */
export function patchRoom(): (patch: string | null) => string | null {
  let left = bytesInAll;
  return (patch) => {
    left -= patch === null ? 0 : Buffer.byteLength(patch);
    return left < 0 ? null : patch;
  };
}

/** Changed files as people see them, in their order. */
export function changedRows(
  shown: readonly ChangedFile[],
  patches: readonly PatchFacts[],
  fits: (patch: string | null) => string | null,
  isConflict: (file: string) => boolean = () => false,
): Diff['files'] {
  return shown.map(({ path: file, oldPath, letter }, at) => {
    const { added, removed, patch } = patches[at] ?? { added: null, removed: null, patch: null };
    const status = isConflict(file) ? 'conflict' : (statuses[letter] ?? 'modified');
    const old_path = oldPath === null ? null : nameText(oldPath);
    return { path: nameText(file), old_path, status, added, removed, patch: fits(patch) };
  });
}

const statuses: Readonly<Record<string, Diff['files'][number]['status']>> = {
  A: 'added',
  C: 'added',
  D: 'deleted',
  R: 'renamed',
  U: 'conflict',
};
