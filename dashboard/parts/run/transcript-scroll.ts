import type { Signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/** Nearer to the end than this is at the end. */
const nearPx = 24;

/**
 * Keeps a reader in their place in a list that grows at both ends. While `follows`, that is the end; otherwise the
 * visible rows stay in place. Scrolling up ends the following, and only the reader begins it again.
 */
export function useStayInPlace(
  box: RefObject<HTMLElement | null>,
  follows: Signal<boolean>,
): { readonly onScroll: () => void } {
  const lastTop = useRef(0);
  // Read before the new elements are inserted: the first visible element, and its position.
  const anchor = follows.peek() ? null : firstSeen(box.current);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    if (follows.peek()) element.scrollTop = element.scrollHeight;
    else if (anchor?.child.isConnected) element.scrollTop += anchor.child.offsetTop - anchor.offset;
    lastTop.current = element.scrollTop;
  });
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const grows = new ResizeObserver(() => {
      if (follows.peek()) element.scrollTop = element.scrollHeight;
    });
    for (const child of element.children) grows.observe(child);
    grows.observe(element);
    return () => grows.disconnect();
  }, [box, follows]);
  return {
    onScroll: () => {
      const element = box.current;
      if (element === null) return;
      const left = element.scrollHeight - element.scrollTop - element.clientHeight;
      if (element.scrollTop < lastTop.current && left > nearPx) follows.value = false;
      lastTop.current = element.scrollTop;
    },
  };
}

interface Anchor {
  readonly child: HTMLElement;
  readonly offset: number;
}

function firstSeen(box: HTMLElement | null): Anchor | null {
  const children = box?.querySelectorAll<HTMLElement>('[data-seq]') ?? [];
  let [low, high] = [0, children.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const child = children[middle];
    if (child !== undefined && child.offsetTop + child.offsetHeight <= (box?.scrollTop ?? 0)) low = middle + 1;
    else high = middle;
  }
  const child = children[low];
  return child === undefined ? null : { child, offset: child.offsetTop };
}
