import { type Clock, timedOut, within } from '../../../clock/clock.ts';
import { BatonError } from '../../../core/baton-error.ts';
import type { Now } from '../../../server/api/schema/now.ts';
import type { TopSource } from '../top-source.ts';

/** A daemon that takes longer than this does not answer. */
const patienceMs = 5_000;

export interface NoAnswer {
  readonly problem: string;
  /** The daemon is there, and does not let us look. */
  readonly isRefusal: boolean;
}

/** What is going on, or why nobody says. Never rejects. */
export async function askNow(source: TopSource, clock: Clock): Promise<{ readonly nows: readonly Now[] } | NoAnswer> {
  try {
    const nows = await within(clock, patienceMs, source.now());
    return nows === timedOut ? { problem: 'it takes too long', isRefusal: false } : { nows };
  } catch (error) {
    const isRefusal = error instanceof BatonError && error.code === 'token_needed';
    return { problem: problemText(error), isRefusal };
  }
}

export function problemText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
