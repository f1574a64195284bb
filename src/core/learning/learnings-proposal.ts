import type { LearningsProposal } from '../task/proposal.ts';
import { likeness } from '../task/proposal.ts';
import type { Learning } from './learning.ts';
import { lessonsIn } from './lesson.ts';

/** What an agent says about a learning that it proposes. */
export interface SaidLearning {
  readonly text: string;
  /** The numbers of the lessons that it comes from. */
  readonly from: readonly number[];
  /** The ids of the learnings that it would replace. */
  readonly replaces: readonly string[];
}

/**
 * The proposal of an agent, with its origins. A number or an id that does not exist is named, so that the agent can correct
 * it. One that says the same as another, or as a learning that it does not replace, is left out.
 */
export function learningsProposal(
  said: readonly SaidLearning[],
  lessons: string,
  known: readonly Learning[],
): LearningsProposal | { readonly unknown: readonly string[] } {
  const byNumber = lessonsIn(lessons);
  const ids = new Map(known.map(({ id }) => [id.toLowerCase(), id]));
  const unknown = said.flatMap(({ from, replaces }) => [
    ...from.filter((number) => !byNumber.has(number)).map(String),
    ...replaces.filter((id) => !ids.has(id.toLowerCase())),
  ]);
  if (unknown.length > 0) return { unknown: [...new Set(unknown)] };
  const learnings: LearningsProposal['learnings'][number][] = [];
  for (const { text, from, replaces } of said) {
    const replaced = new Set(replaces.flatMap((id) => ids.get(id.toLowerCase()) ?? []));
    const others = [...known.filter(({ id }) => !replaced.has(id)), ...learnings];
    if (others.some((other) => likeness(other.text, text) === 1)) continue;
    const origins = [...new Set(from)].flatMap((number) => byNumber.get(number) ?? []);
    learnings.push({
      text,
      replaces: [...replaced],
      decision: 'open',
      learning: null,
      origins: origins.map(({ kind, issue, at }) => ({ kind, issue, at })),
    });
  }
  return { kind: 'learnings', learnings };
}
