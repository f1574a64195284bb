import type { JudgeSettings } from '../settings.ts';
import {
  type ChecksVerdict,
  type PullRequest,
  type PullRound,
  type SentBackKind,
  standsInReview,
} from './pull-request.ts';

/*
 * The judge of a change: an agent that reviews it before people do. What must hold:
 *
 * - A verdict is about one commit and is given by a tool. Prose is never searched for one.
 * - A commit that has the verdicts it needs is not judged again; a new commit needs new ones.
 * - A rejected change goes back to its agent while `judge.max_rounds` allows it and the findings are new; then a person
 *   decides. What people send back resets the count.
 */

/** `must`: the change cannot be merged as it is. */
export const severities = ['must', 'should', 'note'] as const;

/** Something that the judge wants changed. */
export interface Finding {
  /** Null: about the change as a whole. */
  readonly file: string | null;
  readonly line: number | null;
  readonly severity: (typeof severities)[number];
  readonly problem: string;
  /** What would satisfy the judge. */
  readonly wanted: string;
}

/** What a judge says about a commit. */
export interface Opinion {
  readonly verdict: 'approved' | 'rejected';
  readonly summary: string;
  readonly findings: readonly Finding[];
}

export interface Verdict extends Opinion {
  readonly commit: string;
  /** Which of the judges of the commit gave it, from 0. */
  readonly place: number;
  readonly runId: string;
  readonly agent: string;
  /** Of the prompt of the judge, as its run has it. */
  readonly promptVersion: string;
  readonly at: number;
  /** Under which its host shows it to people; null: it does not, or not yet. */
  readonly hostId: string | null;
}

/** A change at one commit, for one of its judges. */
export interface JudgedCommit {
  /** Of its pull request. */
  readonly number: number;
  readonly commit: string;
  readonly place: number;
}

/** Where a change stands with its judge. Null: it has none. */
export type JudgeState =
  /** Its checks run, or its issue is being moved. */
  | { readonly status: 'waits' }
  | { readonly status: 'wanted'; readonly place: number; readonly agent: string }
  /** `isDivided`: another judge of the commit said the opposite. */
  | { readonly status: 'approved' | 'rejected'; readonly isDivided: boolean };

export function judgeState(
  pull: PullRequest,
  verdicts: readonly Verdict[],
  checks: ChecksVerdict,
  judge: JudgeSettings,
): JudgeState | null {
  const ofHead = verdicts.filter(({ commit }) => commit === pull.headCommit);
  const decided = decisionOf(ofHead, judge);
  if (decided !== null) return { status: decided, isDivided: ofHead.some(({ verdict }) => verdict !== decided) };
  // A person who approved it does not need the judge, and a red one goes back, or waits for a person.
  if (judge.agents.length === 0 || !standsInReview(pull) || pull.approved !== null || checks === 'red') return null;
  if (pull.movedAt === null || checks === 'waiting') return { status: 'waits' };
  const given = new Set(ofHead.map(({ place }) => place));
  const place = Array.from({ length: judge.count }, (_, nth) => nth).find((nth) => !given.has(nth)) ?? 0;
  return { status: 'wanted', place, agent: judge.agents[place % judge.agents.length] ?? '' };
}

/** Where a commit stands with its judges, and whether they disagree, for people. */
export function judgeWords(status: JudgeState['status'], given: readonly Pick<Verdict, 'verdict'>[]): string {
  const isDivided = new Set(given.map(({ verdict }) => verdict)).size > 1;
  return `${statusWords[status]}${isDivided ? '; the judges disagree' : ''}`;
}

const statusWords: Readonly<Record<JudgeState['status'], string>> = {
  waits: 'waits for the checks',
  wanted: 'no verdict yet',
  approved: 'approved',
  rejected: 'rejected',
};

/** Null: more verdicts are needed. */
function decisionOf(
  verdicts: readonly Verdict[],
  { count, decides }: Pick<JudgeSettings, 'count' | 'decides'>,
): 'approved' | 'rejected' | null {
  const rejected = verdicts.filter(({ verdict }) => verdict === 'rejected').length;
  const approved = verdicts.length - rejected;
  const needed = decides === 'any_reject' ? 1 : Math.ceil(count / 2);
  if (rejected > 0 && rejected >= needed) return 'rejected';
  // As many approvals that the missing verdicts could not reject it any more.
  return approved > 0 && count - approved < needed ? 'approved' : null;
}

/** Whether a change that was rejected just now goes back to its agent; otherwise a person decides. */
export function goesBack(
  head: string,
  verdicts: readonly Verdict[],
  rounds: readonly PullRound[],
  { maxRounds }: Pick<JudgeSettings, 'maxRounds'>,
): boolean {
  if (sentBackBy(rounds, ['judge']) >= maxRounds) return false;
  const [now, before] = [true, false].map((isNow) =>
    verdicts.filter(({ commit }) => (commit === head) === isNow).flatMap(({ findings }) => findings.map(keyOf)),
  );
  return !(now ?? []).some((key) => before?.includes(key));
}

/** How often a change was sent back for these reasons since a person last decided about it. */
export function sentBackBy(rounds: readonly PullRound[], kinds: readonly SentBackKind[]): number {
  const byPerson = rounds.findLastIndex(({ sentBack }) => sentBack?.kind === 'person' || sentBack?.kind === 'moved');
  return rounds.slice(byPerson + 1).filter(({ sentBack }) => sentBack !== null && kinds.includes(sentBack.kind)).length;
}

/** The same finding in another round; its line may have moved. */
function keyOf({ file, problem }: Finding): string {
  return JSON.stringify([file, problem.toLowerCase().replace(/\s+/g, ' ').trim()]);
}
