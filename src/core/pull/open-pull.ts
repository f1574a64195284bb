import type { JudgeState } from './judge.ts';
import type { ChecksVerdict, PullStatus } from './pull-request.ts';

/** An open pull request, as people see it in a list. */
export interface OpenPull {
  readonly number: number;
  readonly headCommit: string;
  readonly status: PullStatus;
  readonly checks: ChecksVerdict;
  readonly timesSentBack: number;
  readonly judge: JudgeState | null;
  /** Null: people merge it. */
  readonly autoMerge: {
    /** It can be tried, as far as is known. */
    readonly isReady: boolean;
    /** What keeps Baton from merging it: of `autoMergeObjections`, of a refused merge, or an error; null: nothing. */
    readonly objection: string | null;
  } | null;
}
