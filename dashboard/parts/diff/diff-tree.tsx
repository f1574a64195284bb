import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Diff } from '../../../src/client/schema/run.ts';
import { type FileEntry, fileTree, type TreeEntry } from '../../data/diff/file-tree.ts';
import type { LineComments } from '../../data/diff/line-comments.ts';
import { isNarrow } from '../../data/page/narrow.ts';
import { countWords } from '../../data/text/words.ts';
import { Text } from '../shared/text.tsx';

type ChangedFile = Diff['files'][number];

interface DiffTreeProps {
  readonly files: readonly ChangedFile[];
  readonly comments: LineComments | undefined;
  readonly onShow: (file: ChangedFile) => void;
}

/** The changed files next to the diff, by folder. On a phone it is folded. */
export function DiffTree({ files, comments, onShow }: DiffTreeProps): VNode {
  const entries = useMemo(() => fileTree(files), [files]);
  const counts = new Map<string, number>();
  for (const { path } of comments?.all.value ?? []) counts.set(path, (counts.get(path) ?? 0) + 1);
  return (
    <nav class="diff-tree" aria-label="Changed files" data-part="file_tree" data-rows>
      <details open={!isNarrow.value}>
        <summary title="Go to the file tree (f)">{countWords(files.length, 'file', 'files')}</summary>
        <Entries entries={entries} counts={counts} onShow={onShow} />
      </details>
    </nav>
  );
}

interface EntriesProps {
  readonly entries: readonly TreeEntry[];
  readonly counts: ReadonlyMap<string, number>;
  readonly onShow: (file: ChangedFile) => void;
}

function Entries({ entries, counts, onShow }: EntriesProps): VNode {
  return (
    <ul>
      {entries.map((entry) =>
        entry.kind === 'folder' ? (
          <li key={`${entry.name}/`}>
            <details open>
              <summary>
                <Text text={entry.name} />
              </summary>
              <Entries entries={entry.entries} counts={counts} onShow={onShow} />
            </details>
          </li>
        ) : (
          <li key={entry.name}>
            <FileRow entry={entry} count={counts.get(entry.file.path) ?? 0} onShow={onShow} />
          </li>
        ),
      )}
    </ul>
  );
}

interface FileRowProps {
  readonly entry: FileEntry;
  readonly count: number;
  readonly onShow: (file: ChangedFile) => void;
}

function FileRow({ entry: { name, file }, count, onShow }: FileRowProps): VNode {
  return (
    <button type="button" class="quiet" data-row title={`${file.status}: show it (Enter)`} onClick={() => onShow(file)}>
      <span class={`mark ${file.status}`} aria-hidden="true">
        {marks[file.status]}
      </span>
      <Text text={name} />
      <span class="unseen">, {file.status}</span>
      {count > 0 && (
        <span class="count">
          {count}
          <span class="unseen"> {count === 1 ? 'comment' : 'comments'}</span>
        </span>
      )}
    </button>
  );
}

const marks: Readonly<Record<ChangedFile['status'], string>> = {
  added: '+',
  untracked: '+',
  modified: '•',
  renamed: '→',
  deleted: '−',
  conflict: '!',
};
