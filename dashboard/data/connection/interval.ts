import { useEffect, useRef } from 'preact/hooks';
import { later } from '../page/clock.ts';
import { link } from './stream.ts';

/** Repeats an action, for facts without events; not while the page is hidden or the daemon is away. */
export function useInterval(everyMs: number, act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const run = (): void => {
      if (!document.hidden && link.peek().is === 'open') latest.current();
      cancel = later(everyMs, run);
    };
    let cancel = later(everyMs, run);
    return () => cancel();
  }, [everyMs]);
}
