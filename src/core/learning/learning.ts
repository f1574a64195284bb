import type { Author } from '../issue/author.ts';
import { pointOf } from '../prompt/choose-prompt.ts';
import type { LessonKind } from './lesson.ts';

/**
 * Something that earlier work in a project taught, in one or two sentences for later agents. An agent proposes it, and only a
 * person makes it a learning: what an agent writes may come from an untrusted text.
 *
 * | from           | to                                                                                             |
 * |----------------|------------------------------------------------------------------------------------------------|
 * | (new)          | trial, by a person; kept, where `learner.trial_issues` is 0                                      |
 * | trial          | kept: issues with it were sent back less often than issues without it; faded: they were not       |
 * | any but vetoed | vetoed, by a person; replaced, with a better one that a person accepts                           |
 * | any            | trial again, by a person who edits it or brings it back                                          |
 *
 * Agents get those on trial and those that are kept. Half of the issues, by their id, do without one on trial: only so can
 * Baton tell whether it helps.
 */
export interface Learning {
  /** `L1`, `L2`, …, in the order in which people accepted them. */
  readonly id: string;
  readonly text: string;
  readonly status: LearningStatus;
  /** What taught it; empty: a person wrote it. */
  readonly origins: readonly LearningOrigin[];
  /** Who accepted it, or wrote it. */
  readonly author: Author;
  readonly createdAt: number;
  /** When its status or its text changed last. A trial begins then. */
  readonly changedAt: number;
}

export const learningStatuses = ['trial', 'kept', 'faded', 'vetoed', 'replaced'] as const;
export type LearningStatus = (typeof learningStatuses)[number];

export interface LearningOrigin {
  readonly kind: LessonKind;
  /** The identifier of the issue. */
  readonly issue: string;
  readonly at: number;
}

/** The longest text of a learning, in characters. */
export const longestLearning = 500;

export function isOffered({ status }: Pick<Learning, 'status'>): boolean {
  return status === 'trial' || status === 'kept';
}

/**
 * The learnings for an issue, as many as fit into `maxChars`. Those that have proven themselves come first, then the newest. An
 * issue gets the same ones in all its runs as long as the learnings stay the same.
 */
export function learningsFor(issueId: string, learnings: readonly Learning[], maxChars: number): readonly Learning[] {
  const wanted = learnings
    .filter((each) => each.status === 'kept' || (each.status === 'trial' && isTriedOn(issueId, each.id)))
    .toSorted(
      (one, other) => rank(one) - rank(other) || other.createdAt - one.createdAt || (one.id < other.id ? -1 : 1),
    );
  const chosen: Learning[] = [];
  let chars = 0;
  for (const each of wanted) {
    const size = learningLine(each).length + 1;
    if (chars + size > maxChars) continue;
    chars += size;
    chosen.push(each);
  }
  return chosen;
}

/** Whether an issue gets a learning that is on trial: half of them do, each learning another half. */
function isTriedOn(issueId: string, learningId: string): boolean {
  return pointOf(`${learningId}\0${issueId}`) < 0.5;
}

function rank({ status }: Learning): number {
  return status === 'kept' ? 0 : 1;
}

/** A learning as agents and people read it, with its origin. */
export function learningLine({ id, text, origins }: Pick<Learning, 'id' | 'text' | 'origins'>): string {
  return `- ${text.replace(/\s+/g, ' ').trim()} (${id}, ${originText(origins)})`;
}

const mostNamed = 3;

/** Where a learning comes from, in a few words. */
export function originText(origins: readonly LearningOrigin[]): string {
  if (origins.length === 0) return 'written by a person';
  const issues = [...new Set(origins.map(({ issue }) => issue))];
  const named = issues.slice(0, mostNamed).join(', ');
  return `from ${issues.length > mostNamed ? `${named} and ${issues.length - mostNamed} more` : named}`;
}
