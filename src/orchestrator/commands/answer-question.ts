import { isDeepStrictEqual } from 'node:util';
import { BatonError } from '../../core/baton-error.ts';
import { type CommandAnswer, done, refused } from '../../core/command/command-answers.ts';
import { checkAnswer } from '../../core/command/question.ts';
import type { Command } from '../../store/tables/commands.ts';
import type { StoredQuestion } from '../../store/tables/words/questions.ts';
import type { BaseParts } from '../parts.ts';
import type { OpenQuestions } from '../runs/open-questions.ts';
import { leaveToItsOwner } from './find-issue.ts';
import { type HoldParts, retryHeld } from './hold.ts';

export interface AnswerParts extends HoldParts, Pick<BaseParts, 'clock' | 'isShared' | 'owner'> {
  readonly questions: OpenQuestions;
}

/**
 * A person answers a question. The answer is stored first. An agent that still waits gets it at once; if its run has
 * ended, the issue continues with the answer as soon as no other question is open; in between, the answer is kept for
 * the next run. The delivery is stored last: after a crash an agent may get an answer twice, but no answer is lost.
 */
export async function answerQuestion(parts: AnswerParts, command: Command): Promise<CommandAnswer> {
  const { store, clock, questions } = parts;
  if (command.author.kind === 'run') return refused('not_for_agents', 'Only a person may answer a question.');
  const id = command.payload.question;
  const question = typeof id === 'string' ? await store.questions.read(id) : null;
  if (question === null || question.project !== parts.project)
    return refused('question_not_found', 'There is no such question.');
  const { given, identifier } = question;
  await leaveToItsOwner(parts, { id: question.issueId, identifier });
  if (given === null && question.closedAt !== null)
    return refused('question_closed', 'The question is closed; no agent waits for an answer.');
  const checked = checkAnswer(question.question, answerIn(command));
  if ('problem' in checked)
    return refused('invalid_answer', checked.problem, { problem: checked.code, field: checked.field });
  const { answer } = checked;
  // A command that was carried out but not answered comes again with the same answer. A different answer is too late.
  const alreadyAnswered = refused('question_answered', 'The question is already answered.');
  if (given !== null && !isDeepStrictEqual(given.answer, answer)) return alreadyAnswered;
  const what = answer.decision === 'decline' ? 'your "no"' : 'the answer';
  const delivered = done('answer_delivered', `Delivered ${what} to the agent of ${identifier}.`);
  if (question.deliveredTo !== null) return delivered;
  if (
    given === null &&
    !(await store.questions.answer(question.id, { at: clock.now(), author: command.author, answer }))
  )
    return alreadyAnswered;
  if (!questions.answer(question.id, answer)) return goOn(parts, question, what);
  await store.questions.deliver([question.id], question.runId);
  questions.forgetDelivered(question.id);
  return delivered;
}

/** No agent waits for the answer any more: the issue continues with it, or its next run gets it. */
async function goOn(parts: AnswerParts, question: StoredQuestion, what: string): Promise<CommandAnswer> {
  const { store, claims, project } = parts;
  const { issueId, identifier } = question;
  const running = claims.running.get(issueId);
  const isEnding = running?.runId === question.runId && running.stopRequested !== null;
  const holds = (await store.held.list(project)).filter((hold) => hold.issueId === issueId);
  const isHeld = claims.held.get(issueId)?.code === needsAnswer;
  // The issue is about to be held for this question, or its hold is not ours yet: it continues with the answer a moment
  // later.
  if (
    !isHeld &&
    (isEnding || claims.get(issueId)?.status === 'inheriting' || holds.some(({ code }) => code === needsAnswer))
  )
    throw new BatonError('claim_lost', `The run of ${identifier} that asked is still being ended.`);
  if (!isHeld) return done('answer_kept', `The next run of ${identifier} gets ${what}.`);
  const others = (await store.questions.open(project)).filter((each) => each.issueId === issueId);
  if (others.length > 0)
    return done(
      'answer_kept_others_open',
      `Stored ${what}; ${identifier} still waits for the answer to another question.`,
    );
  await retryHeld(parts, issueId, 'answered');
  return done('continues_with_answer', `${identifier} continues with ${what}.`);
}

/** The hold code of an issue whose question is open. */
const needsAnswer = 'agent_input_required';

/** Reads the answer from the command; checks its form only. */
function answerIn({ payload }: Command): Parameters<typeof checkAnswer>[1] {
  const { decision, text, values } = payload;
  const texts = typeof values === 'object' && values !== null ? Object.entries(values) : [];
  return {
    ...(decision === 'accept' || decision === 'accept_for_session' || decision === 'decline' ? { decision } : {}),
    ...(typeof text === 'string' ? { text } : {}),
    values: Object.fromEntries(texts.filter((entry): entry is [string, string] => typeof entry[1] === 'string')),
  };
}
