import type { VNode } from 'preact';
import { useId, useMemo, useRef } from 'preact/hooks';
import type { StreamEvent } from '../../../src/client/schema/event.ts';
import type { Diff } from '../../../src/client/schema/run.ts';
import { useResource } from '../../data/connection/resource.ts';
import { filesInOrder, fileTree } from '../../data/diff/file-tree.ts';
import type { LineComments } from '../../data/diff/line-comments.ts';
import { useKeys } from '../../data/page/keyboard.ts';
import { countWords } from '../../data/text/words.ts';
import { EmptyLine } from '../shared/empty-line.tsx';
import { ProblemLine } from '../shared/problem-line.tsx';
import { Text } from '../shared/text.tsx';
import { DiffFile } from './diff-file.tsx';
import { DiffTree } from './diff-tree.tsx';

interface DiffViewProps {
  readonly path: string;
  readonly changesWith: (event: StreamEvent) => boolean;
  /** The comments on lines that a person writes; absent where none can be written. */
  readonly comments?: LineComments | undefined;
  /** Where the files are, for the links to an editor. */
  readonly folder?: string | null;
}

/** The changes of a workspace against its base, read when they are shown. */
export function DiffView({ path, changesWith, ...shown }: DiffViewProps): VNode {
  return <DiffContent {...shown} read={useResource<Diff>(path, changesWith)} />;
}

interface DiffContentProps extends Omit<DiffViewProps, 'path' | 'changesWith'> {
  readonly read: ReturnType<typeof useResource<Diff>>;
}

/** The tree of the changed files, and each of them. */
export function DiffContent({ read: { resource, reload }, comments, folder = null }: DiffContentProps): VNode {
  const { value, problem } = resource.value;
  if (value === null)
    return problem === null ? <EmptyLine isAsking>Loading the diff.</EmptyLine> : <ProblemLine problem={problem} />;
  const { files, is_cut, includes_base, why_none } = value;
  return (
    <div class="diff-view">
      {problem !== null && <ProblemLine problem={problem} />}
      <DiffSum diff={value} onReload={reload} />
      {is_cut && <p class="warning-line">Some changed files are not shown here. Open the workspace to see them.</p>}
      {includes_base === true && <p class="warning-line">Changes of the base are shown too.</p>}
      {why_none === null && files.length === 0 && <EmptyLine>No changes.</EmptyLine>}
      {files.length > 0 && (
        // Another key where comments begin to be possible: the keys of a part are bound once.
        <Files key={String(comments === undefined)} files={files} comments={comments} folder={folder} />
      )}
    </div>
  );
}

function DiffSum({ diff, onReload }: { readonly diff: Diff; readonly onReload: () => void }): VNode {
  const { files, base, branch, why_none } = diff;
  const added = files.reduce((sum, file) => sum + (file.added ?? 0), 0);
  const removed = files.reduce((sum, file) => sum + (file.removed ?? 0), 0);
  return (
    <p class="diff-sum">
      {why_none !== null ? (
        <Text text={why_none} />
      ) : (
        <>
          {countWords(files.length, 'file', 'files')}, <span class="added">+{added}</span>{' '}
          <span class="removed">−{removed}</span>
          {branch !== null && (
            <>
              {' '}
              on{' '}
              <code>
                <Text text={branch} />
              </code>
            </>
          )}
          {base !== null && (
            <>
              {' '}
              against{' '}
              <code>
                <Text text={base.length > 30 ? base.slice(0, 12) : base} />
              </code>
            </>
          )}
        </>
      )}{' '}
      <button type="button" class="quiet" onClick={onReload}>
        Reload
      </button>
    </p>
  );
}

/** A larger change is drawn file by file, as it is read: a browser needs seconds for tens of thousands of lines. */
const linesDrawnAtOnce = 1_000;

interface FilesProps {
  readonly files: Diff['files'];
  readonly comments: LineComments | undefined;
  readonly folder: string | null;
}

function Files({ files, comments, folder }: FilesProps): VNode {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const ordered = useMemo(() => filesInOrder(fileTree(files)), [files]);
  const lines = files.reduce((sum, { added, removed }) => sum + (added ?? 0) + (removed ?? 0), 0);
  const idOf = (index: number): string => `${id}-${index}`;
  const sections = (): HTMLElement[] => [...(box.current?.querySelectorAll<HTMLElement>('.diff-file') ?? [])];
  useKeys([
    { keys: 'n', label: 'next file of the diff', run: () => show(nextOf(sections(), 1)) },
    { keys: 'p', label: 'previous file of the diff', run: () => show(nextOf(sections(), -1)) },
    { keys: 'f', label: 'go to the file tree', run: () => goToTree(box.current) },
    ...(comments === undefined
      ? []
      : [{ keys: 'c', label: 'comment on the line', run: () => commentHere(sections()) }]),
  ]);
  return (
    <div ref={box} class={files.length > 1 ? 'diff-body' : undefined}>
      {files.length > 1 && (
        <DiffTree
          files={files}
          comments={comments}
          onShow={(file) => show(document.getElementById(idOf(files.indexOf(file))))}
        />
      )}
      <div class="diff-contents">
        {ordered.map(({ file, index }) => (
          <DiffFile
            key={file.path}
            file={file}
            id={idOf(index)}
            isDrawnLater={lines > linesDrawnAtOnce}
            comments={comments}
            folder={folder}
          />
        ))}
      </div>
    </div>
  );
}

/** Not a link with `#`: the router leaves those to the browser, and the address would lose the tab. */
function show(section: HTMLElement | null | undefined): void {
  section?.scrollIntoView({ block: 'start' });
  const line = section?.querySelector<HTMLElement>('[data-row]') ?? section?.querySelector('button');
  line?.focus({ preventScroll: true });
}

/** The file after or before the one with the focus, or else the one at the top of the window. */
function nextOf(sections: readonly HTMLElement[], step: 1 | -1): HTMLElement | undefined {
  const focused = sections.findIndex((section) => section.contains(document.activeElement));
  const here = focused === -1 ? sections.findLastIndex((section) => section.getBoundingClientRect().top < 1) : focused;
  return sections[here === -1 && step === -1 ? 0 : here + step];
}

function goToTree(box: HTMLElement | null): void {
  const tree = box?.querySelector<HTMLDetailsElement>('.diff-tree > details');
  if (tree) tree.open = true;
  tree?.querySelector<HTMLElement>('[data-row]')?.focus();
}

/** Opens the comment of the focused line, or else goes to the first line that can have one. */
function commentHere(sections: readonly HTMLElement[]): void {
  const focused = document.activeElement?.closest<HTMLElement>('.comment-on');
  if (focused) focused.click();
  else sections.flatMap((section) => section.querySelector<HTMLElement>('.added .comment-on') ?? [])[0]?.focus();
}
