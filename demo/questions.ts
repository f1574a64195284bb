import { BatonError } from '../src/core/baton-error.ts';
import { type AgentQuestion, checkAnswer, type WantedAnswer } from '../src/core/command/question.ts';
import type { Logger } from '../src/core/logger.ts';
import { durationText } from '../src/core/text/amount-text.ts';
import { harmlessLine } from '../src/core/text/harmless-line.ts';
import { shellArgument } from '../src/core/text/shell-argument.ts';
import { connect } from '../src/daemon/connect.ts';
import type { Surroundings } from '../src/daemon/surroundings.ts';
import type { Workplace } from '../src/daemon/workplace.ts';
import type { IssueName } from '../src/orchestrator/claims/claim.ts';
import type { ReadModel } from '../src/orchestrator/view/read-model.ts';
import { isOpen } from '../src/server/api/present/present-question.ts';
import { findQuestion } from '../src/server/api/routes/find-question.ts';
import type { Here } from './issue-rows.ts';
import type { Announcement } from './lines.ts';

/** An issue that waits for a person's answer: its agent waits, or it is held with the question. */
export interface AskingIssue {
  readonly issue: IssueName;
  /** Stays the same while the same question waits in the same way. */
  readonly key: string;
  /** Wall time at which its run ends without an answer; null when it has ended. */
  readonly until: number | null;
}

/** All issues that wait for an answer now. */
export function askingIssues({ questions, held }: ReadModel): AskingIssue[] {
  return [
    ...questions.map(({ id, issue, until }) => ({ issue, key: id, until })),
    ...held
      .filter(({ code }) => code === 'agent_input_required')
      .map(({ issue, since }) => ({ issue, key: `${issue.id} held ${since}`, until: null })),
  ];
}

export interface ShowParts {
  readonly workplace: Workplace;
  readonly here: Here;
  readonly say: (announcement: Announcement) => void;
  readonly logger: Logger;
}

/**
 * Shows what an agent asks, with the whole line that answers it: once when it asks, and once more when the answer did not
 * come in time. Returns what to call after each change.
 */
export function showQuestions({ workplace, here, say, logger }: ShowParts): (model: ReadModel) => void {
  const shown = new Set<string>();
  const show = async (asking: AskingIssue, now: number): Promise<void> => {
    const stored = await findQuestion(workplace.store.questions, workplace.project.id, asking.issue.identifier);
    // The issue is held, but its question is no longer open: the reason of the hold says enough.
    if (!isOpen(stored)) return;
    const { identifier, question } = stored;
    const options = question.fields[0]?.options ?? [];
    // With the first answer that is offered.
    const answer = question.fields.length === 0 ? '--yes' : options.length > 0 ? '1' : "'your answer'";
    const command = here(`baton ask answer ${shellArgument(identifier)} ${answer}`);
    const asked = harmlessLine(question.text);
    say({
      lines: [
        `${identifier} asks you: ${asked}`,
        ...options.map((option, at) => `  ${at + 1}  ${harmlessLine(option)}`),
        `  ${waitSentence(asking.until, now)} To answer, in another terminal:`,
        `  ${command}`,
      ],
      json: {
        identifier,
        question: asked,
        options,
        command,
        waits_until: asking.until === null ? null : new Date(asking.until).toISOString(),
      },
    });
  };
  return (model) => {
    for (const asking of askingIssues(model)) {
      if (shown.has(asking.key)) continue;
      shown.add(asking.key);
      show(asking, model.at).catch((error) => logger.warn('demo_questions_unreadable', { error }));
    }
  };
}

function waitSentence(until: number | null, now: number): string {
  if (until === null) return 'No answer came in time, so the issue is held until you answer.';
  const leftMs = Math.ceil(Math.max(0, until - now) / 1_000) * 1_000;
  return `Its agent waits ${durationText(leftMs)} for your answer; the other agents continue.`;
}

export interface AnswerParts {
  readonly workplace: Workplace;
  readonly say: (announcement: Announcement) => void;
  /** The author of the answer. */
  readonly name: string;
}

/** For a question that offers nothing to choose from. */
const freeText = 'Do what you think is best.';

/**
 * Answers the question of an issue in place of a person, with the same command that a person would send, and announces
 * it. Rejects when there is no such question, or when the answer was refused.
 */
export async function answerInPlace(
  { issue }: AskingIssue,
  { workplace, say, name }: AnswerParts,
  surroundings: Surroundings,
): Promise<void> {
  const stored = await findQuestion(workplace.store.questions, workplace.project.id, issue.identifier);
  const { id, identifier, question } = stored;
  if (!isOpen(stored)) throw new BatonError('demo_failed', `The question of ${identifier} is no longer open.`);
  const checked = checkAnswer(question, firstChoice(question));
  if ('problem' in checked) throw new BatonError('demo_failed', `The demo found no valid answer: ${checked.problem}.`);
  const { decision, values } = checked.answer;
  const {
    workflow: { path: workflow },
    stateDir,
  } = workplace;
  // The demo counts as a person, also when an agent started it.
  await using connection = await connect({ workflow, stateDir }, surroundings, { author: { kind: 'person', name } });
  const key = surroundings.chance.id();
  await connection.project.submit({ kind: 'question_answer', question: id, decision, values: { ...values }, key });
  const answer = harmlessLine(Object.values(checked.answer.values).join(', ') || 'yes');
  const asked = harmlessLine(question.text);
  say({
    lines: [`${identifier} asks: ${asked}`, `  The demo answers in place of a person: ${answer}`],
    json: { identifier, question: asked, answer, answered_by: name },
  });
}

function firstChoice({ fields }: AgentQuestion): WantedAnswer {
  if (fields.length === 0) return { decision: 'accept' };
  return { values: Object.fromEntries(fields.map(({ name, options }) => [name, options[0] ?? freeText])) };
}
