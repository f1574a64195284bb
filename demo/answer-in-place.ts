import { findQuestion } from '../src/cli/ask/find-question.ts';
import { isOpen } from '../src/cli/ask/question-state.ts';
import { sendCommand } from '../src/cli/control/submit-command.ts';
import { BatonError } from '../src/core/baton-error.ts';
import { type AgentQuestion, checkAnswer, type WantedAnswer } from '../src/core/command/question.ts';
import { harmlessLine } from '../src/core/text/harmless-line.ts';
import type { Surroundings } from '../src/daemon/surroundings.ts';
import type { Workplace } from '../src/daemon/workplace.ts';
import type { AskingIssue } from './asking-issues.ts';
import type { Announcement } from './screen.ts';

export interface AnswerParts {
  readonly workplace: Workplace;
  readonly say: (announcement: Announcement) => void;
  /** In whose name it answers. */
  readonly name: string;
}

/** For a question that offers nothing to choose from. */
const freeText = 'As you think best.';

/**
 * Answers the question of an issue in the place of a person, by the same command that a person would give, and says that
 * it did. Rejects when there is no such question, or when the answer was refused.
 */
export async function answerInPlace(
  { issue }: AskingIssue,
  { workplace, say, name }: AnswerParts,
  surroundings: Surroundings,
): Promise<void> {
  const stored = await findQuestion(workplace, issue.identifier);
  const { id, issueId, identifier, question } = stored;
  if (!isOpen(stored)) throw new BatonError('demo_failed', `The question of ${identifier} is not open any more.`);
  const checked = checkAnswer(question, firstChoice(question));
  if ('problem' in checked) throw new BatonError('demo_failed', `The demo has no answer: ${checked.problem}.`);
  const payload = { question: id, issue: issueId, ...checked.answer };
  // Who started the demo does not matter: an agent that shows itself the demo is not the one that is asked here.
  const env = { ...surroundings.env, BATON_RUN_ID: undefined };
  await sendCommand(workplace, { kind: 'question_answer', payload }, { as: name }, { ...surroundings, env });
  const answer = harmlessLine(Object.values(checked.answer.values).join(', ') || 'yes');
  const asked = harmlessLine(question.text);
  say({
    lines: [`${identifier} asks: ${asked}`, `  The demo answers in the place of a person: ${answer}`],
    json: { identifier, question: asked, answer, answered_by: name },
  });
}

function firstChoice({ fields }: AgentQuestion): WantedAnswer {
  if (fields.length === 0) return { decision: 'accept' };
  return { values: Object.fromEntries(fields.map(({ name, options }) => [name, options[0] ?? freeText])) };
}
