import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import type { StreamEvent } from '../../../src/client/schema/event.ts';
import type { Diff } from '../../../src/client/schema/run.ts';
import { useResource } from '../../data/connection/resource.ts';
import type { LineComments } from '../../data/review/line-comments.ts';
import { countWords } from '../../data/text/words.ts';
import { EmptyLine } from '../shared/empty-line.tsx';
import { ProblemLine } from '../shared/problem-line.tsx';
import { Text } from '../shared/text.tsx';
import { Amounts, DiffFile } from './diff-file.tsx';

interface DiffViewProps {
  readonly path: string;
  readonly changesWith: (event: StreamEvent) => boolean;
  /** The comments on lines that a person writes; absent where none can be written. */
  readonly comments?: LineComments | undefined;
}

/** The changes of a workspace against its base: the files, then each of them. */
export function DiffView({ path, changesWith, comments }: DiffViewProps): VNode {
  const { resource, reload } = useResource<Diff>(path, changesWith);
  const id = useId();
  const { value, problem } = resource.value;
  if (value === null)
    return problem === null ? <EmptyLine isAsking>Loading the diff.</EmptyLine> : <ProblemLine problem={problem} />;
  const { files, base, branch, is_cut, why_none } = value;
  const added = files.reduce((sum, file) => sum + (file.added ?? 0), 0);
  const removed = files.reduce((sum, file) => sum + (file.removed ?? 0), 0);
  return (
    <div class="diff-view">
      {problem !== null && <ProblemLine problem={problem} />}
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
        <button type="button" class="quiet" onClick={reload}>
          Reload
        </button>
      </p>
      {is_cut && <p class="warning-line">Some changed files are not shown here. Open the workspace to see them.</p>}
      {why_none === null && files.length === 0 && (
        <EmptyLine>No changes yet: the workspace is the same as its base.</EmptyLine>
      )}
      {files.length > 1 && (
        <ul class="diff-files" aria-label="Changed files">
          {files.map((file, index) => (
            <li key={file.path}>
              <button type="button" class="quiet" data-row onClick={() => show(`${id}-${index}`)}>
                <Text text={file.path} />
              </button>
              <Amounts file={file} />
            </li>
          ))}
        </ul>
      )}
      {files.map((file, index) => (
        <DiffFile key={file.path} file={file} id={`${id}-${index}`} comments={comments} />
      ))}
    </div>
  );
}

/** Not a link with `#`: the router leaves those to the browser, and the address would lose the tab. */
function show(id: string): void {
  const section = document.getElementById(id);
  section?.scrollIntoView({ block: 'start' });
  section?.querySelector('button')?.focus({ preventScroll: true });
}
