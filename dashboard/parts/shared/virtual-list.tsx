import { useSignal } from '@preact/signals';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { windowOf } from '../../data/page/window-of.ts';

interface VirtualListProps<R> {
  readonly rows: readonly R[];
  readonly keyOf: (row: R) => string;
  /** Every row has this height; content that does not fit is cut off. */
  readonly rowHeight: number;
  /** `isTabStop`: Tab enters the list at this row, the keys j and k continue from there. */
  readonly render: (row: R, isTabStop: boolean) => ComponentChildren;
  readonly label: string;
  /** Called when the end is near; a caller that has more adds to `rows`. */
  readonly onEndNear?: () => void;
}

/**
 * A list of any length: only the rows that can be seen are drawn, and some around them. The row that has the focus stays
 * drawn wherever it is scrolled to, so that neither focus nor typed text is lost.
 */
export function VirtualList<R>(props: VirtualListProps<R>): VNode {
  const { rows, keyOf, rowHeight, render, label, onEndNear } = props;
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(0);
  const focused = useSignal<string | null>(null);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = new ResizeObserver(() => {
      height.value = element.clientHeight;
    });
    measure.observe(element);
    height.value = element.clientHeight;
    return () => measure.disconnect();
  }, [height]);

  const { from, to } = windowOf({ top: top.value, height: height.value, rowHeight, count: rows.length });
  const isEndNear = height.value > 0 && to >= rows.length;
  useEffect(() => {
    if (isEndNear) onEndNear?.();
  }, [isEndNear, rows.length, onEndNear]);

  const drawn = rows.slice(from, to).map((row, index) => ({ row, index: from + index }));
  const kept = focused.value === null ? -1 : rows.findIndex((row) => keyOf(row) === focused.value);
  const stop = kept === -1 ? Math.min(Math.ceil(top.value / rowHeight), rows.length - 1) : kept;
  const keptRow = rows[kept];
  if (keptRow !== undefined && (kept < from || kept >= to)) drawn.push({ row: keptRow, index: kept });

  return (
    <div
      class="virtual"
      ref={box}
      onScroll={({ currentTarget }) => {
        top.value = currentTarget.scrollTop;
      }}
      onFocusIn={({ target }) => {
        focused.value = (target as Element).closest<HTMLElement>('[data-key]')?.dataset.key ?? null;
      }}
      onFocusOut={() => {
        focused.value = null;
      }}
    >
      <ul style={{ height: `${rows.length * rowHeight}px` }} aria-label={label} data-rows>
        {drawn
          .sort((a, b) => a.index - b.index)
          .map(({ row, index }) => (
            <li
              key={keyOf(row)}
              data-key={keyOf(row)}
              aria-setsize={rows.length}
              aria-posinset={index + 1}
              style={{ height: `${rowHeight}px`, transform: `translateY(${index * rowHeight}px)` }}
            >
              {render(row, index === stop)}
            </li>
          ))}
      </ul>
    </div>
  );
}
