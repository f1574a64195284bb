import type { Author } from '../issue/author.ts';

/** How a change enters its base. */
export const mergeMethods = ['merge', 'squash', 'rebase'] as const;
export type MergeMethod = (typeof mergeMethods)[number];

/**
 * Who or what returned a change to the agent. `review`: a reviewer asked for changes at its host; `moved`: a person moved
 * its issue back.
 */
export type SentBackKind = 'person' | 'check' | 'conflict' | 'review' | 'judge' | 'moved';

/** Baton itself moves the issue of a change that these sent back; the others did it before. */
export function isMovedByBaton(kind: SentBackKind): boolean {
  return kind !== 'person' && kind !== 'moved';
}

/** The end of a check. Only `passed` is green. */
export const checkResults = ['passed', 'failed', 'timed_out', 'skipped'] as const;
export type CheckResult = (typeof checkResults)[number];

export interface SentBack {
  readonly at: number;
  readonly by: Author;
  readonly kind: SentBackKind;
}

/**
 * A change under review, the same record for every host. Its facts are stored and its status is derived
 * (`pullStatus`). A round is one head commit that was in review.
 */
export interface PullRequest {
  readonly project: string;
  /** Counts from 1 in its project. */
  readonly number: number;
  readonly issueId: string;
  readonly identifier: string;
  readonly title: string;
  readonly body: string;
  readonly host: string;
  /** At its host; null where Baton's own number is the only one. */
  readonly hostNumber: number | null;
  readonly url: string | null;
  readonly repository: string;
  readonly branch: string;
  readonly base: string;
  /** Of the base, as it was when the head was last read. */
  readonly baseCommit: string;
  readonly headCommit: string;
  readonly openedAt: number;
  readonly openedBy: Author;
  /** Since when the head is in review. */
  readonly standingSince: number;
  /** When its issue was moved for this head: to review, and back once a check sent it back. Null: still to do. */
  readonly movedAt: number | null;
  /** Of the head; null: it was not sent back. */
  readonly sentBack: SentBack | null;
  readonly timesSentBack: number;
  /** Of the head: an approval of an earlier one is not kept. */
  readonly approved: { readonly at: number; readonly by: Author; readonly commit: string } | null;
  /** A pull request is merged or closed, never both. */
  readonly merged: Merged | null;
  readonly closed: { readonly at: number; readonly by: Author } | null;
}

export interface Merged {
  readonly at: number;
  readonly by: Author;
  /** The commit of the base that contains the change. */
  readonly commit: string;
  /** Null where another program merged it and git does not say how. */
  readonly method: MergeMethod | null;
}

export interface PullRound {
  /** From 1. */
  readonly round: number;
  readonly headCommit: string;
  readonly baseCommit: string;
  readonly at: number;
  /** Null when a person moved the branch. */
  readonly runId: string | null;
  readonly sentBack: SentBack | null;
}

/** A command of `review.checks` for one commit, and its result. */
export interface Check {
  readonly commit: string;
  readonly name: string;
  readonly command: string;
  /** Null until it was started. */
  readonly startedAt: number | null;
  /** Null until it ended or was skipped. */
  readonly endedAt: number | null;
  readonly exitCode: number | null;
  readonly result: CheckResult | null;
  /** Its end, when it was long. */
  readonly output: string | null;
}

export type PullStatus = 'in_review' | 'approved' | 'sent_back' | 'merged' | 'closed';

export function pullStatus({ merged, closed, sentBack, approved, headCommit }: PullRequest): PullStatus {
  if (merged !== null) return 'merged';
  if (closed !== null) return 'closed';
  if (sentBack !== null) return 'sent_back';
  return approved?.commit === headCommit ? 'approved' : 'in_review';
}

/** The result of all checks of a commit: skipped is not green. `none`: no check is wanted. */
export type ChecksVerdict = 'none' | 'waiting' | 'green' | 'red' | 'incomplete';

/** `wanted`: the names of the checks that the settings want; one that is not planned yet is waited for. */
export function checksVerdict(
  checks: readonly Pick<Check, 'name' | 'result'>[],
  wanted: readonly string[] = [],
): ChecksVerdict {
  if (checks.some(({ result }) => result === 'failed' || result === 'timed_out')) return 'red';
  if (wanted.some((name) => checks.every((check) => check.name !== name))) return 'waiting';
  if (checks.length === 0) return 'none';
  if (checks.some(({ result }) => result === null)) return 'waiting';
  return checks.every(({ result }) => result === 'passed') ? 'green' : 'incomplete';
}

/** The result of the checks of the head. Checks that are not planned yet count only while the head is in review. */
export function headVerdict(
  pull: PullRequest,
  checks: readonly Pick<Check, 'name' | 'result'>[],
  wanted: readonly string[],
): ChecksVerdict {
  return checksVerdict(checks, standsInReview(pull) ? wanted : []);
}

export function standsInReview(pull: PullRequest): boolean {
  const status = pullStatus(pull);
  return status === 'in_review' || status === 'approved';
}
