import type { Diff } from '../../../client/schema/run.ts';
import { nameText } from '../../../workspace/git/read/git-files.ts';
import type { BytePath } from '../../../workspace/walk-folders.ts';

/** A changed file, as `git diff --raw -z` lists it. */
export interface ChangedFile {
  readonly path: BytePath;
  readonly oldPath: BytePath | null;
  /** A, C, D, M, R, T, U or another letter of git. */
  readonly letter: string;
}

export function readRaw(raw: string): readonly ChangedFile[] {
  const fields = raw.split('\0');
  const files: ChangedFile[] = [];
  for (let at = 0; at + 1 < fields.length; ) {
    const letter = /^:\S+ \S+ \S+ \S+ ([A-Z])/.exec(fields[at] ?? '')?.[1] ?? '?';
    const isTwo = letter === 'R' || letter === 'C';
    const [first = '', second = ''] = [fields[at + 1], fields[at + 2]];
    files.push({ letter, path: isTwo ? second : first, oldPath: isTwo ? first : null });
    at += isTwo ? 3 : 2;
  }
  return files;
}

/**
 * Splits the patch of all files into one patch per file; null when they do not fit together. Every line of content
 * begins with a sign, so no file can contain the beginning of another patch. Git reports a file that became a link, or
 * stopped being one, as one removed and one added file.
 */
export function splitPatch(patch: string, files: readonly ChangedFile[]): readonly string[] | null {
  const parts = patch.split(/^(?=diff --git )/m).filter((part) => part !== '');
  const found: string[] = [];
  let at = 0;
  for (const { letter } of files) {
    const count = letter === 'T' ? 2 : 1;
    found.push(parts.slice(at, at + count).join(''));
    at += count;
  }
  return at === parts.length ? found : null;
}

export interface PatchFacts {
  readonly added: number | null;
  readonly removed: number | null;
  /** Null when it is binary or too large. */
  readonly patch: string | null;
}

export const noPatch: PatchFacts = { added: null, removed: null, patch: null };

/** What a person sees of a patch; `bytes` has one character per byte. */
export function patchFacts(bytes: string, mostBytes: number): PatchFacts {
  if (bytes.includes('\0')) return noPatch;
  const [added, removed] = countLines(bytes);
  const patch = bytes.length > mostBytes ? null : Buffer.from(bytes, 'latin1').toString('utf8');
  return { added, removed, patch };
}

/** Counts the lines of the hunks; the lines before the first hunk describe the file. */
function countLines(patch: string): readonly [added: number, removed: number] {
  let [added, removed, isInside] = [0, 0, false];
  for (const line of patch.split('\n')) {
    if (line.startsWith('diff --git ')) isInside = false;
    else if (line.startsWith('@@ ')) isInside = true;
    else if (isInside && line.startsWith('+')) added += 1;
    else if (isInside && line.startsWith('-')) removed += 1;
  }
  return [added, removed];
}

/** The most that a diff shows of one file. */
export const bytesPerFile = 256 * 1024;

/** Git runs no program that a repository names, and no setting of the machine changes the output. */
export const diffArguments = [
  ...['--no-ext-diff', '--no-textconv', '--no-color', '--no-relative', '--ignore-submodules=all'],
  ...['--find-renames=50%', '-l500', '--src-prefix=a/', '--dst-prefix=b/'],
];

/** The most that a diff shows: files, and bytes of all files. */
export const mostFiles = 300;
const bytesInAll = 2 * 1024 * 1024;

/** Returns patches until their total size reaches `bytesInAll`, then null. */
export function patchBudget(): (patch: string | null) => string | null {
  let left = bytesInAll;
  return (patch) => {
    left -= patch === null ? 0 : Buffer.byteLength(patch);
    return left < 0 ? null : patch;
  };
}

/** Changed files for people, in order. */
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
