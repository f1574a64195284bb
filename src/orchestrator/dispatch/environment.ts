import type { Timer } from '../../clock/clock.ts';
import type { BatonError } from '../../core/baton-error.ts';
import type { SkipReason } from '../../core/dispatch/eligibility.ts';
import { afterFailedRun, afterGoodStart, type Environment, goodEnvironment } from '../../core/run/environment.ts';
import { timeToSecond } from '../../core/text/time-text.ts';
import type { Running } from '../claims/claim.ts';
import type { Claims } from '../claims/claims.ts';
import type { BaseParts } from '../parts.ts';

export interface EnvironmentWatchParts extends Pick<BaseParts, 'chance' | 'clock' | 'logger' | 'source' | 'stopping'> {
  readonly claims: Claims;
  /** New work may start again, or one run may try it. */
  readonly onMayStart: () => void;
}

/**
 * Whether the runs of this project can begin at all (`core/run/environment.ts`). In memory only: after a restart the first
 * runs find out again, and no issue is counted for it.
 */
export class EnvironmentWatch {
  readonly #parts: EnvironmentWatchParts;
  #state: Environment = goodEnvironment;
  #timer: Timer | null = null;

  constructor(parts: EnvironmentWatchParts) {
    this.#parts = parts;
  }

  /** Why nothing new may start; `startsBefore` issues of the same decision start before it. */
  whyNone(startsBefore = 0): SkipReason | null {
    const { clock, claims } = this.#parts;
    const { trouble } = this.#state;
    if (trouble === null) return null;
    const leftMs = trouble.until - clock.monotonic();
    const why = `no run can begin: ${trouble.reason}`;
    if (leftMs > 0)
      return { code: 'environment', text: `${why} The next try is at ${timeToSecond(clock.now() + leftMs)}.` };
    const isTried = [...claims.running.values()].some(({ hasBegun, usage }) =>
      trouble.isModel ? usage.totalTokens === 0 : !hasBegun,
    );
    return isTried || startsBefore > 0 ? { code: 'environment', text: `${why} One run tries again.` } : null;
  }

  /** For people, as long as it lasts; null when nothing is wrong. */
  get problem(): { readonly code: string; readonly text: string } | null {
    const { trouble } = this.#state;
    return trouble && { code: trouble.code, text: trouble.reason };
  }

  /** A person wants work to go on: one run tries it now. */
  tryAgain(): void {
    const { trouble } = this.#state;
    const now = this.#parts.clock.monotonic();
    if (trouble !== null && trouble.until > now) this.#state = { ...this.#state, trouble: { ...trouble, until: now } };
  }

  /** The agent of a run began its first turn, or the model answered it for the first time. */
  goodStart({ issue, usage }: Running): void {
    const { trouble } = this.#state;
    const now = this.#parts.clock.monotonic();
    this.#state = afterGoodStart(this.#state, { issueId: issue.id, hasAnswer: usage.totalTokens > 0, now });
    if (trouble === null || this.#state.trouble !== null) return;
    this.#timer?.cancel();
    this.#parts.logger.info('environment_back', { code: trouble.code });
    this.#parts.onMayStart();
  }

  /** Whether the environment is to blame for the end of a run. Then it also says when the issue may try again. */
  failedRun(
    { issue, usage, workflow, startedAtMonotonic: startedAt }: Running,
    { turns, error }: { readonly turns: number; readonly error: BatonError },
  ): { readonly retryInMs: number } | null {
    const { clock, chance, logger, stopping } = this.#parts;
    const before = this.#state.trouble;
    const now = clock.monotonic();
    const { environment, isToBlame } = afterFailedRun(this.#state, {
      issueId: issue.id,
      error,
      turns,
      startedAt,
      hasAnswer: usage.totalTokens > 0,
      now,
      longestWaitMs: workflow.settings.agent.maxRetryBackoffMs,
      chance: chance.next(),
    });
    this.#state = environment;
    const { trouble } = environment;
    if (!isToBlame || trouble === null) return null;
    if (before === null) logger.warn('environment_failed', { code: trouble.code, reason: trouble.reason });
    const waitMs = Math.max(0, Math.ceil(trouble.until - now));
    if (trouble !== before) {
      this.#timer?.cancel();
      this.#timer = clock.schedule(waitMs, () => {
        if (!stopping.aborted) this.#parts.onMayStart();
      });
    }
    // After the time at which one run tries it: another issue may come first, and shows whether this one is to blame.
    return { retryInMs: waitMs + afterTryMs };
  }
}

const afterTryMs = 1_000;
