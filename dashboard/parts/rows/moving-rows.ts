import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

const moveMs = 150;

/**
 * Shows a row that changes its band on its way there. Only such a row moves: the others make room at once, so that
 * nothing that a person is about to press is in motion. A person who wants less motion gets none.
 */
export function useMovingRows(box: RefObject<HTMLElement | null>): void {
  const before = useRef<ReadonlyMap<string, Spot>>(new Map());
  useLayoutEffect(() => {
    const after = spotsIn(box.current);
    if (!matchMedia('(prefers-reduced-motion: reduce)').matches)
      for (const [issue, { band, top, element }] of after) {
        const from = before.current.get(issue);
        if (from === undefined || from.band === band) continue;
        const frames = [{ transform: `translateY(${from.top - top}px)`, opacity: 0.4 }, { transform: 'none' }];
        element.animate(frames, { duration: moveMs, easing: 'ease-out' });
      }
    before.current = after;
  });
}

interface Spot {
  readonly element: HTMLElement;
  readonly band: string;
  /** On the page, not in the window: the person may have scrolled since. */
  readonly top: number;
}

/** Where each issue is; one that has several rows is where its first is. */
function spotsIn(box: HTMLElement | null): ReadonlyMap<string, Spot> {
  const spots = new Map<string, Spot>();
  for (const element of box?.querySelectorAll<HTMLElement>('[data-issue]') ?? []) {
    const issue = element.dataset.issue ?? '';
    const band = element.closest<HTMLElement>('section[data-part]')?.dataset.part ?? '';
    if (!spots.has(issue)) spots.set(issue, { element, band, top: element.getBoundingClientRect().top + scrollY });
  }
  return spots;
}
