import type { LearningOrigin } from '../learning/learning.ts';
import type { SetupProposal } from './setup-proposal.ts';
import type { Task } from './task.ts';

/** What the agent of a task proposes: JSON data, as it is stored. */
export type Proposal = IssuesProposal | SetupProposal | LearningsProposal;

/** Of an intake and of a scan. */
export interface IssuesProposal {
  readonly kind: 'issues';
  readonly issues: readonly ProposedIssue[];
}

/** Of a run of the learner. */
export interface LearningsProposal {
  readonly kind: 'learnings';
  readonly learnings: readonly ProposedLearning[];
}

/** A learning that an agent would keep, and what a person decided about it. */
export interface ProposedLearning {
  readonly text: string;
  readonly origins: readonly LearningOrigin[];
  /** The ids of learnings that it would replace. */
  readonly replaces: readonly string[];
  readonly decision: Decision;
  /** The id of the learning that it became; null: none. */
  readonly learning: string | null;
}

export type Decision = 'open' | 'accepted' | 'refused';

/** The parts that a person decides about one by one; none in the proposal of a setup. */
export function partsOf(proposal: Proposal | null): readonly { readonly decision: Decision }[] {
  return proposal?.kind === 'learnings' ? proposal.learnings : issuesIn(proposal);
}

/** The proposal after a person refused the open parts with these numbers, from 1. */
export function withRefused(proposal: Proposal | null, isRefused: (number: number) => boolean): Proposal | null {
  const refuse = <Part extends { readonly decision: Decision }>(part: Part, at: number): Part =>
    part.decision === 'open' && isRefused(at + 1) ? { ...part, decision: 'refused' } : part;
  if (proposal?.kind === 'issues') return { ...proposal, issues: proposal.issues.map(refuse) };
  if (proposal?.kind === 'learnings') return { ...proposal, learnings: proposal.learnings.map(refuse) };
  return proposal;
}

/** What a person decided about a proposal whose parts are all decided. */
export function decisionOf(proposal: Proposal | null): 'accepted' | 'refused' {
  return partsOf(proposal).some(({ decision }) => decision === 'accepted') ? 'accepted' : 'refused';
}

/** A task that proposed nothing has nothing to decide about. */
export function isUndecided({ status, proposal }: Task): boolean {
  const isOpen = partsOf(proposal).some(({ decision }) => decision === 'open');
  return status === 'waiting' || (status === 'proposed' && isOpen);
}

/** The learnings in a proposal; none in one of another kind. */
export function learningsIn(proposal: Proposal | null): readonly ProposedLearning[] {
  return proposal?.kind === 'learnings' ? proposal.learnings : [];
}

/** The issues in a proposal; none in one of another kind. */
export function issuesIn(proposal: Proposal | null): readonly ProposedIssue[] {
  return proposal?.kind === 'issues' ? proposal.issues : [];
}

/** An issue that an agent would file, and what a person decided about it. */
export interface ProposedIssue {
  readonly title: string;
  readonly description: string;
  /** What must be true when it is done. */
  readonly criteria: readonly string[];
  /** 1 (most urgent) to 4; null: none. */
  readonly priority: number | null;
  readonly labels: readonly string[];
  /** The open issue that asks for the same; null: none was found. */
  readonly duplicateOf: KnownIssue | null;
  readonly decision: Decision;
  /** The identifier of the issue that it became; null: none. */
  readonly issue: string | null;
}

export interface KnownIssue {
  readonly identifier: string;
  readonly title: string;
}

/** What an agent says about an issue that it proposes. */
export interface SaidIssue {
  readonly title: string;
  readonly description: string;
  readonly criteria: readonly string[];
  readonly priority: number | null;
  readonly labels: readonly string[];
  /** The identifier of an open issue, in the agent's words; null: none. */
  readonly duplicateOf: string | null;
}

/**
 * The proposal of an agent, with its duplicates. An identifier that the agent names counts only if there is such an issue; and
 * one with nearly the same title is a duplicate whatever the agent says. Of two proposals with the same title only the
 * first is kept.
 */
export function issuesProposal(said: readonly SaidIssue[], open: readonly KnownIssue[]): IssuesProposal {
  const byName = new Map(open.map((issue) => [issue.identifier.toLowerCase(), issue]));
  const issues: ProposedIssue[] = [];
  for (const each of said) {
    if (issues.some(({ title }) => likeness(title, each.title) === 1)) continue;
    const named = byName.get(each.duplicateOf?.trim().toLowerCase() ?? '') ?? null;
    issues.push({ ...each, duplicateOf: named ?? sameTitle(each.title, open), decision: 'open', issue: null });
  }
  return { kind: 'issues', issues };
}

/** From this share of common words on, two titles ask for the same. */
const alike = 0.7;

function sameTitle(title: string, open: readonly KnownIssue[]): KnownIssue | null {
  const found = open
    .map((issue) => ({ issue, share: likeness(title, issue.title) }))
    .filter(({ share }) => share >= alike)
    .toSorted((one, other) => other.share - one.share);
  return found[0]?.issue ?? null;
}

/** The share of words that two texts have in common: from 0 to 1. */
export function likeness(one: string, other: string): number {
  const [mine, theirs] = [wordsOf(one), wordsOf(other)];
  const common = [...mine].filter((word) => theirs.has(word)).length;
  const all = mine.size + theirs.size - common;
  return all === 0 ? 0 : common / all;
}

const smallWords = new Set(['a', 'an', 'and', 'the', 'to', 'of', 'in', 'on', 'for', 'with', 'is', 'be', 'should']);

function wordsOf(text: string): Set<string> {
  const words =
    text
      .toLowerCase()
      .normalize('NFKC')
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.filter((word) => !smallWords.has(word)));
}

/** The description of the issue that a proposal becomes. */
export function descriptionOf({ description, criteria }: Pick<ProposedIssue, 'description' | 'criteria'>): string {
  if (criteria.length === 0) return description;
  return [description, '', 'Acceptance criteria:', '', ...criteria.map((each) => `- ${each}`)].join('\n').trim();
}
