import { BatonError } from '../../core/baton-error.ts';
import { checkAnswer, type QuestionAnswer, type WantedAnswer } from '../../core/command/question.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { openWorkplace } from '../../daemon/workplace.ts';
import type { StoredQuestion } from '../../store/tables/questions.ts';
import { type CommandFlags, presentCommand, sendCommand } from '../control/submit-command.ts';
import { exitCodes } from '../exit-codes.ts';
import { authorWords, timeWords } from '../issue/history-words.ts';
import { textOrStdin } from '../issue/read-stdin.ts';
import { jsonLine } from '../json-line.ts';
import { findQuestion } from './find-question.ts';
import { isOpen } from './question-state.ts';

export interface AnswerFlags extends CommandFlags {
  readonly yes?: boolean;
  readonly always?: boolean;
  readonly no?: boolean;
  readonly field?: readonly (readonly [name: string, value: string])[];
}

/** Read from stdin at most; what an answer may have is a rule of its own. */
const mostAnswerBytes = 1024 * 1024;

/**
 * `baton ask answer`: checks the answer against its question, so that a mistake is told at once, and hands it to the
 * daemon as a command. Only the orchestrator answers: the agent may be gone by then.
 */
export async function answerQuestion(
  id: string,
  words: readonly string[],
  flags: AnswerFlags,
  surroundings: Surroundings,
): Promise<number> {
  await using workplace = await openWorkplace(flags, surroundings);
  const stored = await findQuestion(workplace, id);
  // With a key it may be the same command once more, and then the answer to that is wanted.
  if (!isOpen(stored) && flags.key === undefined) throw tooLate(stored);
  const checked = checkAnswer(stored.question, await wantedAnswer(words, flags, surroundings));
  if ('problem' in checked) {
    throw new BatonError('command_refused', `The answer does not fit the question: ${checked.problem}.`, {
      nextStep: `See \`baton ask show ${stored.id}\`.`,
      details: {
        question: stored.id,
        code: 'invalid_answer',
        data: { problem: checked.code, field: checked.field },
      },
    });
  }
  const payload = { question: stored.id, issue: stored.issueId, ...checked.answer };
  const sent = await sendCommand(workplace, { kind: 'question_answer', payload }, flags, surroundings);
  const command = presentCommand(sent);
  surroundings.stdout.write(
    flags.json ? jsonLine({ command, question: stored.id, answer: checked.answer }) : `${harmlessLine(command.text)}\n`,
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

function tooLate({ id, given, closedAt }: StoredQuestion): BatonError {
  const why =
    given === null
      ? `was closed ${timeWords(closedAt ?? 0)}: nobody waits for an answer any more`
      : `was answered ${timeWords(given.at)} by ${authorWords(given.author)}`;
  return new BatonError('command_refused', `The question ${why}.`, {
    nextStep: 'See `baton ask list` for those that are open.',
    details: { question: id, code: given === null ? 'question_closed' : 'question_answered' },
  });
}
