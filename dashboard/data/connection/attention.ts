import { effect, signal } from '@preact/signals';
import { later } from '../page/clock.ts';

/**
 * Whether this page keeps its connection to the daemon. A browser opens six connections to one address, for all its
 * tabs together; the seventh tab would not load, and the others could not send requests. So a hidden page closes its
 * connection, and continues where it was when it is visible again. One hidden page keeps its connection, so that the
 * count in its title stays true, if the browser supports locks.
 */
const wanted = signal(true);

/** A user who only glances at another tab should not find this one out of date. */
const glanceMs = 1_000;
const lockName = 'baton: the tab in the background that listens';

/** Follows the visibility of the page, until it is closed. */
export function watchAttention(onChange: () => void): void {
  let cancel = (): void => {};
  let release = (): void => {};
  const decide = (isWanted: boolean): void => {
    if (wanted.peek() === isWanted) return;
    wanted.value = isWanted;
    onChange();
  };
  const seen = (): void => {
    cancel();
    release();
    release = () => {};
    decide(true);
  };
  const unseen = (): void => {
    // Locks exist only on the loopback address and over TLS.
    if (navigator.locks === undefined) {
      decide(false);
      return;
    }
    void navigator.locks.request(lockName, { ifAvailable: true }, (lock) => {
      if (document.visibilityState === 'visible') return null;
      if (lock === null) {
        decide(false);
        return null;
      }
      return new Promise<null>((resolve) => {
        release = () => resolve(null);
      });
    });
  };
  const check = (): void => {
    cancel();
    if (document.visibilityState === 'visible') seen();
    else cancel = later(glanceMs, unseen);
  };
  document.addEventListener('visibilitychange', check);
  // Otherwise a page in the back/forward cache would keep its connection.
  addEventListener('pagehide', () => {
    cancel();
    release();
    decide(false);
  });
  addEventListener('pageshow', check);
}

/** Resolves when the page is to be connected. */
export async function untilAttended(): Promise<void> {
  if (wanted.peek()) return;
  await new Promise<void>((resolve) => {
    const stop = effect(() => {
      if (!wanted.value) return;
      resolve();
      queueMicrotask(() => stop());
    });
  });
}
