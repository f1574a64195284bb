import type { Question } from '../../client/schema/question.ts';
import { BatonError } from '../../core/baton-error.ts';
import {
  type AgentQuestion,
  checkAnswer,
  type QuestionAnswer,
  type WantedAnswer,
} from '../../core/command/question.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { type CommandFlags, connectAs, sendCommand } from '../control/submit-command.ts';
import { exitCodes } from '../exit-codes.ts';
import { authorWords, timeWords } from '../issue/history-words.ts';
import { textOrStdin } from '../issue/read-stdin.ts';
import { jsonLine } from '../json-line.ts';

export interface AnswerFlags extends CommandFlags {
  readonly yes?: boolean;
  readonly always?: boolean;
  readonly no?: boolean;
  readonly field?: readonly (readonly [name: string, value: string])[];
}

/** The most that is read from stdin; the length of an answer has its own limit. */
const mostAnswerBytes = 1024 * 1024;

/**
 * `baton ask answer`: checks the answer against its question, so that a mistake is reported at once, and sends it to
 * the daemon as a command. Only the orchestrator delivers it: the agent may be gone by then.
 */
export async function answerQuestion(
  id: string,
  words: readonly string[],
  flags: AnswerFlags,
  surroundings: Surroundings,
): Promise<number> {
  await using connection = await connectAs(flags, surroundings);
  const question = await connection.project.question(id);
  // With a key it may be a repeated command, whose answer the caller wants.
  if (question.state !== 'open' && flags.key === undefined) throw tooLate(question);
  const checked = checkAnswer(askedIn(question), await wantedAnswer(words, flags, surroundings));
  if ('problem' in checked) {
    throw new BatonError('command_refused', `The answer does not fit the question: ${checked.problem}.`, {
      nextStep: `Run \`baton ask show ${question.id}\` to see which answers are possible.`,
      details: {
        question: question.id,
        code: 'invalid_answer',
        data: { problem: checked.code, field: checked.field },
      },
    });
  }
  const { decision, values } = checked.answer;
  const request = { kind: 'question_answer', question: question.id, decision, values: { ...values } } as const;
  const command = await sendCommand(connection, request, flags, surroundings);
  surroundings.stdout.write(
    flags.json
      ? jsonLine({ command, question: question.id, answer: checked.answer })
      : `${harmlessLine(command.text)}\n`,
  );
  return exitCodes.ok;
}

async function wantedAnswer(
  words: readonly string[],
  flags: AnswerFlags,
  surroundings: Surroundings,
): Promise<WantedAnswer> {
  const decision = decisionIn(flags);
  return {
    ...(decision === null ? {} : { decision }),
    ...(words.length === 0 ? {} : { text: await textOrStdin(words.join(' '), surroundings, mostAnswerBytes) }),
    ...(flags.field === undefined ? {} : { values: Object.fromEntries(flags.field) }),
  };
}

function decisionIn({ yes, always, no }: AnswerFlags): QuestionAnswer['decision'] | null {
  if (no === true) return 'decline';
  if (always === true) return 'accept_for_session';
  return yes === true ? 'accept' : null;
}

/** The question in the form that the rules for answers read. */
function askedIn({ kind, text, detail, fields }: Question): AgentQuestion {
  return {
    kind,
    text,
    detail,
    fields: fields.map(({ allows_other: allowsOther, is_secret: isSecret, ...field }) => ({
      ...field,
      allowsOther,
      isSecret,
    })),
  };
}

function tooLate({ id, answer, closed_at }: Question): BatonError {
  const why =
    answer === null
      ? `was closed ${timeWords(closed_at ?? 0)}: no agent is waiting for an answer any more`
      : `was answered ${timeWords(answer.at)} by ${authorWords(answer.author)}`;
  return new BatonError('command_refused', `The question ${why}.`, {
    nextStep: 'Run `baton ask list` to see the open questions.',
    details: { question: id, code: answer === null ? 'question_closed' : 'question_answered' },
  });
}
