import { systemClock } from '../../clock/system-clock.ts';
import { durationText } from '../../core/text/amount-text.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { openWorkplace } from '../../daemon/workplace.ts';
import type { StoredQuestion } from '../../store/tables/questions.ts';
import { cut } from '../cell-text.ts';
import { columns } from '../columns.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import type { AskFlags } from './find-question.ts';
import { presentQuestion } from './present-question.ts';
import { type QuestionState, questionStates } from './question-state.ts';

/** An id is shown this short where that tells it from the others. */
const shortestId = 8;

/** How much of what is asked a line shows. */
const longestText = 100;

const stateWords: Readonly<Record<QuestionState['state'], string>> = {
  agent_waits: 'its agent waits',
  run_ended: 'its run has ended',
  unattended: 'nobody waits just now',
  answered: 'answered',
  closed: 'closed',
};

/** `baton ask list`: one line a question. */
export async function listQuestions(
  flags: AskFlags & { readonly all?: boolean; readonly limit?: number },
  surroundings: Surroundings,
): Promise<number> {
  await using workplace = await openWorkplace(flags, surroundings);
  const { store, project } = workplace;
  const questions = flags.all
    ? await store.questions.list(project.id, { limit: flags.limit ?? 50 })
    : await store.questions.open(project.id);
  const states = await questionStates(questions, workplace, flags, surroundings);
  const listed = questions.flatMap((question, at) => {
    const state = states[at];
    return state === undefined ? [] : [{ question, state }];
  });
  const told = { questions: listed.map(({ question, state }) => presentQuestion(question, state)) };
  surroundings.stdout.write(flags.json ? jsonLine(told) : table(listed));
  return exitCodes.ok;
}

interface Listed {
  readonly question: StoredQuestion;
  readonly state: QuestionState;
}

function table(listed: readonly Listed[]): string {
  if (listed.length === 0) return 'Nobody asks anything.\n';
  const ids = listed.map(({ question }) => question.id);
  const rows = listed.map(({ question: { id, identifier, askedAt, question }, state }) => {
    const age = durationText(Math.max(0, systemClock.now() - askedAt));
    return [
      shortId(id, ids),
      identifier,
      question.kind,
      age,
      stateText(state),
      cut(harmlessLine(question.text), longestText),
    ].map(harmlessLine);
  });
  const lines = columns(['ID', 'ISSUE', 'KIND', 'AGE>', 'STATE', 'QUESTION'], rows);
  return `${[...lines, '', 'Each in full, with the ways to answer: baton ask show ID'].join('\n')}\n`;
}

function stateText({ state, waitsUntil }: QuestionState): string {
  const until = waitsUntil === null ? '' : ` until ${new Date(waitsUntil).toISOString().slice(11, 16)}Z`;
  return stateWords[state] + until;
}

/** The beginning of an id that no other one of them has. */
function shortId(id: string, ids: readonly string[]): string {
  const others = ids.filter((each) => each !== id);
  let length = shortestId;
  while (length < id.length && others.some((each) => each.startsWith(id.slice(0, length)))) length += 1;
  return id.slice(0, length);
}
