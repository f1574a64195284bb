import { toBatonError } from '../../core/baton-error.ts';
import type { Verdict } from '../../core/pull/judge.ts';
import type { PullRequest } from '../../core/pull/pull-request.ts';
import type { Settings } from '../../core/settings.ts';
import { sayVerdict } from '../../pulls/changes.ts';
import type { PullRequests } from '../../pulls/pull-requests.ts';
import type { BaseParts } from '../parts.ts';

type SayParts = Pick<BaseParts, 'clock' | 'logger' | 'stopping' | 'store'>;

export interface UnsaidVerdict {
  readonly pull: PullRequest;
  readonly verdict: Verdict;
}

/** Shows people at a remote host what judges said. A verdict that the host refuses is not tried again by this daemon. */
export class SayVerdicts {
  readonly #parts: SayParts;
  readonly #refused = new Set<string>();

  constructor(parts: SayParts) {
    this.#parts = parts;
  }

  async say(pulls: PullRequests, { judge }: Settings, unsaid: readonly UnsaidVerdict[]): Promise<void> {
    const { clock, logger, stopping, store } = this.#parts;
    if (pulls.remote === undefined || pulls.remote.pressure().step === 'closed') return;
    for (const { pull, verdict } of unsaid) {
      if (stopping.aborted || pull.host !== pulls.host || this.#refused.has(verdict.runId)) continue;
      try {
        await sayVerdict({ store, pulls }, pull, verdict, { at: clock.now(), counts: judge.countsAtHost });
      } catch (thrown) {
        const error = toBatonError(thrown);
        if (!error.retryable) this.#refused.add(verdict.runId);
        logger.warn('verdict_not_said', { pull_request: pull.number, commit: verdict.commit, error });
      }
    }
  }
}
