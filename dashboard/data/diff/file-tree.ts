import type { Diff } from '../../../src/client/schema/run.ts';

type ChangedFile = Diff['files'][number];

/** A folder of the tree, or one of the changed files with its place in the diff. */
export type TreeEntry = FolderEntry | FileEntry;

export interface FolderEntry {
  readonly kind: 'folder';
  /** From the folder above; several names where a folder has nothing but one folder. */
  readonly name: string;
  readonly path: string;
  readonly entries: readonly TreeEntry[];
}

export interface FileEntry {
  readonly kind: 'file';
  readonly name: string;
  readonly file: ChangedFile;
  readonly index: number;
}

interface Folder {
  readonly folders: Map<string, Folder>;
  readonly files: FileEntry[];
}

/** The changed files as a tree: folders first, each by name. */
export function fileTree(files: readonly ChangedFile[]): readonly TreeEntry[] {
  const root = emptyFolder();
  for (const [index, file] of files.entries()) {
    const names = file.path.split('/');
    const name = names.pop() ?? '';
    let folder = root;
    for (const part of names) {
      const next = folder.folders.get(part) ?? emptyFolder();
      folder.folders.set(part, next);
      folder = next;
    }
    folder.files.push({ kind: 'file', name, file, index });
  }
  return entriesOf(root, '');
}

/** The files in the order of the tree, which is the order in which a diff shows them. */
export function filesInOrder(entries: readonly TreeEntry[]): readonly FileEntry[] {
  return entries.flatMap((entry) => (entry.kind === 'file' ? [entry] : filesInOrder(entry.entries)));
}

function emptyFolder(): Folder {
  return { folders: new Map(), files: [] };
}

function entriesOf({ folders, files }: Folder, above: string): readonly TreeEntry[] {
  const inside = [...folders].map(([name, folder]) => folderEntry(name, folder, above));
  return [...inside.toSorted(byName), ...files.toSorted(byName)];
}

function folderEntry(name: string, folder: Folder, above: string): FolderEntry {
  const path = `${above}${name}/`;
  const entries = entriesOf(folder, path);
  const [only] = entries;
  // A folder with nothing but one folder is one row together with it.
  if (entries.length === 1 && only?.kind === 'folder') return { ...only, name: `${name}/${only.name}` };
  return { kind: 'folder', name, path, entries };
}

function byName(left: { readonly name: string }, right: { readonly name: string }): number {
  return left.name < right.name ? -1 : left.name > right.name ? 1 : 0;
}
