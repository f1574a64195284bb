import { effect } from '@preact/signals';
import type { StreamEvent } from '../../../src/client/schema/event.ts';
import { onStreamEvent } from '../connection/live.ts';
import { link } from '../connection/stream.ts';
import { later } from '../page/clock.ts';

export interface KeptReading {
  reload(): void;
  close(): void;
}

/**
 * Reads something at once, and again when an event is about it and after the daemon was away. Several changes at once
 * lead to one read; a change during a read leads to one more. After `close` the signal is aborted, and the result of a
 * read is not to be shown.
 */
export function keepReading(
  load: (signal: AbortSignal) => Promise<void>,
  isAbout: (event: StreamEvent) => boolean,
  settleMs = 250,
): KeptReading {
  const reading = new AbortController();
  let cancel: (() => void) | null = null;
  let isReading = false;
  let isStale = false;

  const go = async (): Promise<void> => {
    cancel = null;
    isReading = true;
    isStale = false;
    await load(reading.signal);
    isReading = false;
    if (isStale && !reading.signal.aborted) reload();
  };
  const reload = (): void => {
    if (isReading) isStale = true;
    else cancel ??= later(settleMs, () => void go());
  };
  const unlisten = onStreamEvent((event) => {
    if (event.name === 'snapshot' || isAbout(event)) reload();
  });
  // A daemon that hung continues without a snapshot; requests sent meanwhile got no answer.
  let wasAway = false;
  const unlink = effect(() => {
    if (link.value.is === 'open' && wasAway) reload();
    wasAway = link.value.is === 'away';
  });
  void go();
  return {
    reload,
    close: () => {
      reading.abort();
      cancel?.();
      unlisten();
      unlink();
    },
  };
}
