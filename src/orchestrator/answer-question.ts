import type { CommandAnswer } from '../core/command.ts';
import { checkAnswer, type QuestionAnswer } from '../core/question.ts';
import type { Command } from '../store/commands.ts';
import type { StoredQuestion } from '../store/questions.ts';
import type { OrchestratorContext } from './context.ts';
import { lookInsteadOfHold } from './hold-issue.ts';
import { leaveToItsOwner } from './leave-to-owner.ts';

/**
 * A person answers a question. It is written down first. An agent that still waits is told at once; where its run has
 * ended, the issue goes on with the answer as soon as nothing else is open; and in between it is kept for the next run.
 */
export async function answerQuestion(context: OrchestratorContext, command: Command): Promise<CommandAnswer> {
  const { store, clock, questions, state } = context;
  if (command.author.kind === 'run') return refused('an agent cannot answer a question: it was asked of a person');
  const id = command.payload.question;
  const question = typeof id === 'string' ? await store.questions.read(id) : null;
  if (question === null || question.project !== context.project) return refused('there is no such question');
  await leaveToItsOwner(context, { id: question.issueId, identifier: question.identifier });
  const wasGiven = question.given;
  if (wasGiven === null && question.closedAt !== null)
    return refused('the question is closed: nobody waits for an answer');
  // One that was carried out and could not be answered comes again; another answer comes too late.
  if (wasGiven !== null && question.deliveredTo !== null) return refused('the question is answered already');
  const checked = checkAnswer(question.question, wishIn(command));
  if ('problem' in checked) return refused(checked.problem);
  if (wasGiven === null) {
    const given = { at: clock.now(), author: command.author, answer: checked.answer };
    if (!(await store.questions.answer(question.id, given))) return refused('the question is answered already');
  }
  if (questions.isWaiting(question.id)) return tellNow(context, question, checked.answer);
  if (state.held.get(question.issueId)?.code !== 'agent_input_required')
    return done('the answer is kept for the next run of the issue');
  const others = (await store.questions.open(context.project)).filter(({ issueId }) => issueId === question.issueId);
  if (others.length > 0) return done(`the answer is kept; ${question.identifier} still waits for another one`);
  await lookInsteadOfHold(context, question.issueId, { kind: 'answered', note: null });
  return done(`${question.identifier} goes on with the answer`);
}

async function tellNow(
  { store, questions }: OrchestratorContext,
  { id, runId, identifier }: StoredQuestion,
  answer: QuestionAnswer,
): Promise<CommandAnswer> {
  await store.questions.deliver([id], runId);
  const isTold = questions.answer(id, answer);
  return done(isTold ? `the agent of ${identifier} is told` : 'the answer is kept for the next run of the issue');
}

/** What the command says, checked for its form only. */
function wishIn({ payload }: Command): Parameters<typeof checkAnswer>[1] {
  const { decision, text, values } = payload;
  const texts = typeof values === 'object' && values !== null ? Object.entries(values) : [];
  return {
    ...(decision === 'accept' || decision === 'accept_for_session' || decision === 'decline' ? { decision } : {}),
    ...(typeof text === 'string' ? { text } : {}),
    values: Object.fromEntries(texts.filter((entry): entry is [string, string] => typeof entry[1] === 'string')),
  };
}

function done(text: string): CommandAnswer {
  return { status: 'done', text };
}

function refused(text: string): CommandAnswer {
  return { status: 'refused', text };
}
