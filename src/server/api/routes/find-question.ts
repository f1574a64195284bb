import { BatonError } from '../../../core/baton-error.ts';
import { isMeantBy } from '../../../core/issue/issue.ts';
import type { Store } from '../../../store/store.ts';
import type { StoredQuestion } from '../../../store/tables/words/questions.ts';

/** A shorter text may be the name of an issue without a question. It must not match the id of another question. */
const shortestBeginning = 8;
/** How many questions are searched for an answered or closed one. */
const mostSearched = 1_000;

/**
 * Finds a question by its id, by the issue that has an open one, or by the beginning of its id. Open questions come
 * first; only when none matches, the newest answered or closed one does.
 */
export async function findQuestion(
  questions: Pick<Store['questions'], 'read' | 'open' | 'list'>,
  project: string,
  reference: string,
): Promise<StoredQuestion> {
  const wanted = reference.trim();
  const exact = wanted === '' ? null : await questions.read(wanted.toLowerCase());
  if (exact !== null && exact.project === project) return exact;
  const open = await questions.open(project);
  const found = theOne(open.filter(isOfIssue(wanted)), wanted) ?? theOne(open.filter(beginsWith(wanted)), wanted);
  if (found !== null) return found;
  const all = await questions.list(project, { limit: mostSearched });
  const past = all.find(isOfIssue(wanted)) ?? theOne(all.filter(beginsWith(wanted)), wanted);
  if (past !== null) return past;
  throw new BatonError('question_not_found', `No question has the id "${wanted}", and no issue of that name has one.`);
}

/** Null when there is none. Throws when there are several, because it is unclear which one is meant. */
function theOne(found: readonly StoredQuestion[], wanted: string): StoredQuestion | null {
  if (found.length <= 1) return found[0] ?? null;
  throw new BatonError('question_not_found', `"${wanted}" matches ${found.length} questions.`, {
    nextStep: `Name one by its id: ${found.map(({ id }) => id).join(', ')}.`,
    details: { questions: found.map(({ id }) => id) },
  });
}

function isOfIssue(wanted: string): (question: StoredQuestion) => boolean {
  return ({ issueId, identifier }) => isMeantBy({ id: issueId, identifier }, wanted);
}

function beginsWith(wanted: string): (question: StoredQuestion) => boolean {
  return ({ id }) => wanted.length >= shortestBeginning && id.startsWith(wanted.toLowerCase());
}
