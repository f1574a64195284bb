import { type Clock, sleep } from '../../clock/clock.ts';
import { BatonError } from '../../core/baton-error.ts';
import { sqliteError } from './sqlite-errors.ts';

/** How long a write waits for another process, or another store of this process, to finish its own. Those take milliseconds. */
const busyTimeoutMs = 5_000;

/**
 * How long SQLite itself waits. It does so without giving way to the rest of the process, and the one it waits for may
 * be in this process: so only for as long as a single write takes, and the rest of the time is waited for here.
 */
export const blockingTimeoutMs = 20;

/** Between two tries; it grows, so that many who wait do not wake each other up all the time. */
const firstPauseMs = 2;
const longestPauseMs = 50;

/** Does `work`, again and again while the file is locked by others. Other errors, and a lock that stays, are thrown. */
export async function whenFree<T>(clock: Clock, file: string, work: () => T): Promise<T> {
  const giveUpAt = clock.monotonic() + busyTimeoutMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return work();
    } catch (thrown) {
      const error = sqliteError(thrown, file);
      if (error.code !== 'store_busy') throw error;
      if (clock.monotonic() >= giveUpAt) throw stillLocked(file, error);
    }
    await sleep(clock, pauseMs);
  }
}

function stillLocked(file: string, cause: BatonError): BatonError {
  return new BatonError('store_busy', `Another process has locked ${file} for more than ${busyTimeoutMs} ms.`, {
    cause,
    details: { file },
  });
}
