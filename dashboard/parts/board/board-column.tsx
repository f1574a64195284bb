import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { IssueSummary, Move } from '../../../src/client/schema/issue.ts';
import { type BoardColumn as ColumnFacts, shiftOf } from '../../data/board/board-columns.ts';
import { plainWords } from '../../data/text/words.ts';
import { EmptyLine } from '../shared/empty-line.tsx';
import { Icon } from '../shared/icon.tsx';
import { hint } from '../shared/tooltip.tsx';
import { VirtualList } from '../shared/virtual-list.tsx';
import { BoardCard, cardHeight } from './board-card.tsx';

interface ColumnProps {
  readonly project: string;
  readonly state: string;
  /** Its name for screen readers, unique on the screen. */
  readonly label: string;
  readonly column: ColumnFacts;
  /** The issues that pass the filters of the page. */
  readonly issues: readonly IssueSummary[];
  readonly selected: ReadonlySet<string>;
  readonly finished: ReadonlySet<string>;
  readonly canMove: boolean;
  /** Whether the dragged issue may come here; null while nothing is dragged, or until the daemon has answered. */
  readonly move: Move | null;
  readonly onSelect: (issue: IssueSummary) => void;
  readonly onDrag: (issue: IssueSummary | null) => void;
  readonly onDrop: (state: string) => void;
  readonly onMore: (state: string) => void;
  /** Null where it is always open. */
  readonly onFold: (() => void) | null;
}

export function BoardColumn(props: ColumnProps): VNode {
  const { project, state, label, column, issues, selected, finished, canMove, move } = props;
  const { onSelect, onDrag, onDrop, onMore, onFold } = props;
  const isOver = useSignal(false);
  // The first page; the list asks for the others.
  useEffect(() => onMore(state), [onMore, state]);
  const section = useRef<HTMLElement>(null);
  const drawn = useRef(issues);
  // A person who reads further down keeps seeing the same cards when cards come and go above them.
  useLayoutEffect(() => {
    const before = drawn.current;
    drawn.current = issues;
    const list = section.current?.querySelector('.virtual') ?? null;
    if (list === null || before === issues || list.scrollTop < cardHeight) return;
    list.scrollTop += shiftOf(before, issues, Math.floor(list.scrollTop / cardHeight)) * cardHeight;
  }, [issues]);
  const isRefused = move !== null && !move.is_allowed;
  return (
    <section
      ref={section}
      data-part={state}
      class={['column', isOver.value ? 'over' : '', isRefused ? 'refuses' : ''].join(' ')}
      aria-label={label}
      onDragOver={(event) => {
        if (!canMove) return;
        event.preventDefault();
        isOver.value = true;
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) isOver.value = false;
      }}
      onDrop={(event) => {
        event.preventDefault();
        isOver.value = false;
        onDrop(state);
      }}
    >
      <h2>
        {plainWords(state)} <span class="count">{column.isRead ? countIn(column, issues) : ''}</span>
        {onFold !== null && (
          <button
            type="button"
            class="quiet fold"
            data-part="fold"
            aria-label={`Fold ${label}`}
            onClick={onFold}
            {...hint('Fold this column. You can still drop issues on it')}
          >
            <Icon name="fold" />
          </button>
        )}
      </h2>
      {isRefused && <p class="why-not">{move.why_not ?? 'not allowed'}</p>}
      {!column.isRead && <EmptyLine isAsking>Loading…</EmptyLine>}
      {column.isRead && issues.length === 0 && column.next === null && <p class="empty">No issues</p>}
      <VirtualList
        label={label}
        rows={issues}
        keyOf={({ id }) => id}
        rowHeight={cardHeight}
        onEndNear={() => onMore(state)}
        render={(issue, isTabStop) => (
          <BoardCard
            project={project}
            issue={issue}
            finished={finished}
            isTabStop={isTabStop}
            isSelected={selected.has(issue.id)}
            canMove={canMove}
            onSelect={onSelect}
            onDragStart={onDrag}
            onDragEnd={() => onDrag(null)}
          />
        )}
      />
    </section>
  );
}

/** All issues of the status, or those that pass the filters, as far as they were read. */
function countIn({ issues: read, next, total }: ColumnFacts, shown: readonly IssueSummary[]): string {
  if (shown.length === read.length && total !== null) return total.toLocaleString();
  return `${shown.length}${next === null ? '' : '+'}`;
}
