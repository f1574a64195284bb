import { effect, signal } from '@preact/signals';
import type { NeedsYou } from '../../../src/client/schema/now.ts';
import type { Question } from '../../../src/client/schema/question.ts';
import { projectPath, read } from '../connection/api.ts';
import { needsYou } from '../connection/live.ts';
import { later } from '../page/clock.ts';

/**
 * The open questions, by their ids. A row only says that there is one; the question is read when the row first appears.
 */
const known = signal<ReadonlyMap<string, Question>>(new Map());
const underWay = new Set<string>();
const againMs = 2_000;

/** The question of a row: the one that it names or, if the issue is held for an answer, the open one of the issue. */
export function questionOf(row: NeedsYou): Question | null {
  if (row.question_id !== null) return known.value.get(row.question_id) ?? null;
  if (!isForAnswer(row)) return null;
  const isShownAbove = needsYou.value.some(
    (other) => other.row.question_id !== null && other.row.issue_id === row.issue_id,
  );
  if (isShownAbove) return null;
  return [...known.value.values()].find(({ issue_id, state }) => issue_id === row.issue_id && state === 'open') ?? null;
}

function isForAnswer({ actions }: NeedsYou): boolean {
  return actions.includes('question_answer');
}

/** Reads the questions of every project that has one. */
export function startQuestions(): void {
  effect(() => {
    const unknown = needsYou.value.filter(({ row }) => isForAnswer(row) && questionOf(row) === null);
    for (const project of new Set(unknown.map((each) => each.project))) void readQuestions(project);
  });
}

async function readQuestions(project: string): Promise<void> {
  if (underWay.has(project)) return;
  underWay.add(project);
  const answer = await read<{ readonly questions: readonly Question[] }>(projectPath(project, 'questions'));
  if ('value' in answer)
    known.value = new Map([...known.peek(), ...answer.value.questions.map((each) => [each.id, each] as const)]);
  later(againMs, () => {
    underWay.delete(project);
    // Questions that are still unknown are requested again.
    known.value = new Map(known.peek());
  });
}
