import { useSignal } from '@preact/signals';
import { Fragment, type VNode } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import type { Diff } from '../../../src/client/schema/run.ts';
import { harmlessLine } from '../../../src/core/text/harmless-line.ts';
import { canColour, colourHunk } from '../../data/diff/colour-hunks.ts';
import { type DiffHunk, type DiffLine, diffHunks } from '../../data/diff/diff-lines.ts';
import { type Language, languageOf } from '../../data/diff/language-of.ts';
import type { LineComments } from '../../data/diff/line-comments.ts';
import { editorHref } from '../../data/page/editor-choice.ts';
import { countWords } from '../../data/text/words.ts';
import { CopyButton } from '../shared/copy-button.tsx';
import { Text } from '../shared/text.tsx';
import { LineCommentRows } from './line-comment-rows.tsx';
import { LineText, useHighlighter, useIsNear } from './line-text.tsx';

type ChangedFile = Diff['files'][number];

/**
 * A file with more than `smallFile` lines is folded until the user opens it; then `linesAtOnce` are drawn at a time.
 */
const smallFile = 300;
const linesAtOnce = 1_500;
/** About the height of a line, for the space of a file that is not drawn yet. */
const linePx = 19;

interface DiffFileProps {
  readonly file: ChangedFile;
  readonly id: string;
  /** It is drawn when it comes near the window. The files of a small change are all drawn at once. */
  readonly isDrawnLater: boolean;
  readonly comments: LineComments | undefined;
  readonly folder: string | null;
}

/** The changes in one file, line by line. */
export function DiffFile({ file, id, isDrawnLater, comments, folder }: DiffFileProps): VNode {
  const href = folder === null || file.status === 'deleted' ? null : editorHref(`${folder}/${file.path}`);
  const hunks = useMemo(() => (file.patch === null ? [] : diffHunks(file.patch)), [file.patch]);
  const count = hunks.reduce((sum, { lines }) => sum + lines.length, 0);
  const isOpen = useSignal(count <= smallFile);
  const name = harmlessLine(file.path);
  const section = useRef<HTMLElement>(null);
  const isDrawn = useIsNear(section) || !isDrawnLater;
  return (
    <section class="diff-file" id={id} aria-label={name} ref={section}>
      <header>
        <button
          type="button"
          class="quiet"
          aria-expanded={isOpen.value}
          aria-label={`${isOpen.value ? 'Fold' : 'Show'} ${name}`}
          onClick={() => {
            isOpen.value = !isOpen.peek();
          }}
        >
          {isOpen.value ? '▾' : '▸'}
        </button>
        <h3>
          {file.old_path !== null && file.old_path !== file.path && (
            <>
              <Text text={file.old_path} /> →{' '}
            </>
          )}
          <Text text={file.path} />
        </h3>
        <Amounts file={file} />
        {href !== null && (
          <a href={href} aria-label={`Open ${name} in your editor`}>
            Open
          </a>
        )}
        <CopyButton text={file.path} label="Copy path" />
      </header>
      {isOpen.value && isDrawn && <Body file={file} hunks={hunks} isColouredLater={isDrawnLater} comments={comments} />}
      {isOpen.value && !isDrawn && <div style={{ height: `${count * linePx}px` }} />}
      {!isOpen.value && <p class="quiet-text">{countWords(count, 'line', 'lines')}, folded.</p>}
    </section>
  );
}

function Amounts({ file }: { readonly file: ChangedFile }): VNode {
  return (
    <span class="amounts number">
      <span>{file.status}</span>
      {file.added !== null && file.added + (file.removed ?? 0) > 0 && (
        <span class="added" title="lines added">
          +{file.added}
        </span>
      )}
      {file.removed !== null && file.removed + (file.added ?? 0) > 0 && (
        <span class="removed" title="lines removed">
          −{file.removed}
        </span>
      )}
    </span>
  );
}

interface BodyProps {
  readonly file: ChangedFile;
  readonly hunks: readonly DiffHunk[];
  readonly isColouredLater: boolean;
  readonly comments: LineComments | undefined;
}

function Body({ file, hunks, isColouredLater, comments }: BodyProps): VNode {
  const most = useSignal(linesAtOnce);
  const language = useMemo(() => (canColour(hunks) ? languageOf(file.path) : null), [hunks, file.path]);
  if (file.patch === null)
    return <p class="empty">This file is binary or too large to show. Open it in the workspace.</p>;
  if (hunks.length === 0) return <p class="empty">Only the name or the mode of the file changed.</p>;
  const drawn: VNode[] = [];
  let left = most.value;
  for (const [index, hunk] of hunks.entries()) {
    if (left <= 0) break;
    const about = { hunk, most: left, isFirst: index === 0, path: file.path, language, isColouredLater, comments };
    drawn.push(<Hunk key={index} {...about} />);
    left -= hunk.lines.length;
  }
  return (
    <>
      <table class="diff" data-rows>
        <caption class="unseen">Changes of {harmlessLine(file.path)}: line before, line after, text</caption>
        {drawn}
      </table>
      {left < 0 && (
        <button
          type="button"
          onClick={() => {
            most.value += linesAtOnce;
          }}
        >
          Show more: {countWords(-left, 'line is', 'lines are')} left
        </button>
      )}
    </>
  );
}

const signs: Readonly<Record<DiffLine['kind'], string>> = { same: ' ', added: '+', removed: '−', note: ' ' };

interface HunkProps {
  readonly hunk: DiffHunk;
  readonly most: number;
  readonly isFirst: boolean;
  readonly path: string;
  readonly language: Language | null;
  readonly isColouredLater: boolean;
  readonly comments: LineComments | undefined;
}

function Hunk({ hunk, most, isFirst, path, language, isColouredLater, comments }: HunkProps): VNode {
  const open = useSignal<number | null>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const isNear = useIsNear(body) || !isColouredLater;
  const highlight = useHighlighter(language !== null && isNear);
  const pieces = useMemo(
    () => (language === null || highlight === null ? [] : colourHunk(hunk, language, highlight)),
    [hunk, language, highlight],
  );
  return (
    <tbody ref={body}>
      {(!isFirst || hunk.place !== '') && (
        <tr class="place">
          <td class="number" />
          <td class="number" />
          <td class="sign">⋯</td>
          <td class="text">
            <Text text={hunk.place} />
          </td>
        </tr>
      )}
      {hunk.lines.slice(0, most).map((line, index) => (
        <Fragment key={index}>
          <tr class={line.kind === 'note' ? 'remark' : line.kind}>
            <td class="number">{line.before}</td>
            <td class="number">
              {comments === undefined || line.after === null ? (
                line.after
              ) : (
                <button
                  type="button"
                  class="quiet comment-on"
                  data-row
                  data-line={line.after}
                  aria-label={`Comment on line ${line.after}`}
                  title="Comment on this line (Enter)"
                  onClick={() => {
                    open.value = line.after;
                  }}
                >
                  {line.after}
                </button>
              )}
            </td>
            <td class="sign">{signs[line.kind]}</td>
            <td class="text">
              <LineText text={line.text} pieces={pieces[index]} />
            </td>
          </tr>
          {comments !== undefined && line.after !== null && (
            <LineCommentRows
              path={path}
              line={line.after}
              comments={comments}
              isOpen={open.value === line.after}
              onClose={() => {
                open.value = null;
                body.current?.querySelector<HTMLElement>(`[data-line="${line.after}"]`)?.focus();
              }}
            />
          )}
        </Fragment>
      ))}
    </tbody>
  );
}
