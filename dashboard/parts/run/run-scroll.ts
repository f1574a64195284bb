import type { Signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { RunEvent } from '../../../src/client/schema/run.ts';

interface ScrollFacts {
  /** Around the list. */
  readonly box: RefObject<HTMLElement | null>;
  readonly rows: readonly RunEvent[];
  readonly follows: Signal<boolean>;
  /** The event that the address names. */
  readonly seq: number | null;
  readonly rowHeight: number;
  /** Called when the beginning of the list is near. */
  readonly onTopNear: () => void;
}

/** Nearer to the end than this is at the end. */
const nearPx = 24;
/** This near to the top, earlier events are read. */
const nearTopPx = 300;
/** How many rows are visible above the event that is scrolled to. */
const rowsAbove = 4;

/**
 * The scroll position in the list of events. While it follows, the list stays at the end until the reader scrolls up;
 * it scrolls once to the event that the address names. Otherwise the visible rows stay in place, also when earlier rows
 * come in above.
 */
export function useRunScroll({ box, rows, follows, seq, rowHeight, onTopNear }: ScrollFacts): void {
  const isShown = useRef(seq === null);
  const firstSeq = useRef<number | undefined>(undefined);
  const wantEarlier = useRef(onTopNear);
  wantEarlier.current = onTopNear;
  const isFollowing = follows.value;
  useLayoutEffect(() => {
    const list = box.current?.querySelector('.virtual') ?? null;
    if (list === null) return;
    const above = rows.findIndex((row) => row.seq === firstSeq.current);
    firstSeq.current = rows[0]?.seq;
    if (isFollowing) list.scrollTop = list.scrollHeight;
    else if (above > 0) list.scrollTop += above * rowHeight;
    const index = isShown.current ? -1 : rows.findIndex((row) => row.seq === seq);
    if (index === -1) return;
    isShown.current = true;
    list.scrollTop = Math.max(0, (index - rowsAbove) * rowHeight);
  }, [box, rows, isFollowing, seq, rowHeight]);
  useEffect(() => {
    const list = box.current?.querySelector('.virtual') ?? null;
    if (list === null) return;
    let last = list.scrollTop;
    const look = (): void => {
      const left = list.scrollHeight - list.scrollTop - list.clientHeight;
      if (list.scrollTop < last && left > nearPx) follows.value = false;
      if (list.scrollTop < last && list.scrollTop < nearTopPx) wantEarlier.current();
      last = list.scrollTop;
    };
    list.addEventListener('scroll', look, { passive: true });
    return () => list.removeEventListener('scroll', look);
  }, [box, follows]);
}
