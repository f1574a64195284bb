import { type Share, shareOf } from '../prompt/intervals.ts';
import type { Learning } from './learning.ts';

/** An issue whose first run began during the trial, and whose agent handed something in. */
export interface TrialIssue {
  readonly issueId: string;
  /** Whether anything that it handed in was sent back. */
  readonly isSentBack: boolean;
  /** Whether its agents got the learning. */
  readonly hadIt: boolean;
}

/** How often work came back, with a learning and without it. */
export interface TrialResult {
  readonly sentBackWith: Share;
  readonly sentBackWithout: Share;
}

export function trialResult(issues: readonly TrialIssue[]): TrialResult {
  const [tried, others] = [true, false].map((hadIt) => issues.filter((each) => each.hadIt === hadIt));
  const share = (some: readonly TrialIssue[] = []): Share =>
    shareOf(some.filter(({ isSentBack }) => isSentBack).length, some.length);
  return { sentBackWith: share(tried), sentBackWithout: share(others) };
}

/**
 * What becomes of a learning on trial. It is decided when `trialIssues` issues had it and as many had not, and work came back
 * at all: without that there is nothing that a learning could have prevented. One that did not make it rarer fades.
 */
export function afterTrial(
  { status }: Pick<Learning, 'status'>,
  { sentBackWith, sentBackWithout }: TrialResult,
  trialIssues: number,
): 'trial' | 'kept' | 'faded' | null {
  if (status !== 'trial') return null;
  if (trialIssues === 0) return 'kept';
  if (sentBackWith.of < trialIssues || sentBackWithout.of < trialIssues) return 'trial';
  if (sentBackWith.count + sentBackWithout.count === 0) return 'trial';
  return sentBackWith.count * sentBackWithout.of < sentBackWithout.count * sentBackWith.of ? 'kept' : 'faded';
}
