import { describe, expect, it } from 'vitest';
import { filesInOrder, fileTree, type TreeEntry } from '../../dashboard/data/diff/file-tree.ts';

const file = (path: string) => ({ path, old_path: null, status: 'added', added: 1, removed: 0, patch: '' }) as const;
/** A folder as `[name, …]`, a file as its name. */
const outline = (entries: readonly TreeEntry[]): unknown[] =>
  entries.map((entry) => (entry.kind === 'file' ? entry.name : [entry.name, ...outline(entry.entries)]));

describe('the file tree of a diff', () => {
  it('has folders first, each by name, and one row for folders that only lead to another', () => {
    const files = ['z.md', 'src/b.ts', 'src/deep/down/a.ts', 'a.md', 'src/a.ts'].map(file);
    expect(outline(fileTree(files))).toEqual([['src', ['deep/down', 'a.ts'], 'a.ts', 'b.ts'], 'a.md', 'z.md']);
  });

  it('names the place of each file in the diff, which is shown in the order of the tree', () => {
    const files = ['b.ts', 'src/a.ts'].map(file);
    expect(filesInOrder(fileTree(files)).map(({ index }) => index)).toEqual([1, 0]);
  });

  it('keeps files apart whose names are those of properties', () => {
    const files = ['__proto__/constructor', 'constructor/__proto__', '/a', '//a'].map(file);
    expect(filesInOrder(fileTree(files))).toHaveLength(4);
  });
});
