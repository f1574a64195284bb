import { systemClock } from '../../clock/system-clock.ts';
import type { AgentQuestion, QuestionField } from '../../core/command/question.ts';
import { durationText } from '../../core/text/amount-text.ts';
import { harmlessLine, harmlessLines } from '../../core/text/harmless-line.ts';
import { shellArgument } from '../../daemon/shell-argument.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { openWorkplace } from '../../daemon/workplace.ts';
import type { GivenAnswer, StoredQuestion } from '../../store/tables/questions.ts';
import { exitCodes } from '../exit-codes.ts';
import { authorWords, timeWords } from '../issue/history-words.ts';
import { jsonLine } from '../json-line.ts';
import { type AskFlags, findQuestion } from './find-question.ts';
import { presentQuestion } from './present-question.ts';
import { isOpen, type QuestionState, questionStates } from './question-state.ts';

/** `baton ask show`: all of a question, how it stands, and the ways to answer it. */
export async function showQuestion(id: string, flags: AskFlags, surroundings: Surroundings): Promise<number> {
  await using workplace = await openWorkplace(flags, surroundings);
  const question = await findQuestion(workplace, id);
  const [state] = await questionStates([question], workplace, flags, surroundings);
  if (state === undefined) return exitCodes.error;
  surroundings.stdout.write(
    flags.json ? jsonLine({ question: presentQuestion(question, state) }) : described(question, state),
  );
  return exitCodes.ok;
}

function described(stored: StoredQuestion, state: QuestionState): string {
  const { question, given, identifier } = stored;
  const detail = harmlessLines(question.detail).trimEnd();
  const sections = [
    [
      `${harmlessLine(identifier)} asks: ${harmlessLine(question.text)}`,
      `  id        ${stored.id}`,
      `  kind      ${question.kind}`,
      `  run       ${harmlessLine(stored.runId)}`,
      `  asked     ${timeWords(stored.askedAt)}`,
      `  state     ${stateSentence(stored, state)}`,
    ],
    detail === '' ? [] : detail.split('\n').map((line) => `  | ${line}`.trimEnd()),
    question.fields.flatMap(fieldLines),
    given === null ? [] : answerLines(given),
    isOpen(stored) ? ['To answer', ...ways(stored, state).map((way) => `  ${way}`)] : [],
  ];
  return `${sections
    .filter((section) => section.length > 0)
    .map((section) => section.join('\n'))
    .join('\n\n')}\n`;
}

function stateSentence(stored: StoredQuestion, found: QuestionState): string {
  const { identifier, given, closedAt, deliveredTo } = stored;
  const issue = harmlessLine(identifier);
  switch (found.state) {
    case 'agent_waits':
      return `its agent waits for the answer ${waitText(found.waitsUntil ?? 0)}; then its run ends and ${issue} is held`;
    case 'run_ended':
      return `its run has ended; an answer lets ${issue} go on where it stopped${meaningLater(stored)}`;
    case 'unattended':
      return `nobody waits for it just now; an answer is kept for the next run${meaningLater(stored)}`;
    case 'answered': {
      const told = deliveredTo === null ? 'no run has been told yet' : `run ${harmlessLine(deliveredTo)} was told`;
      return `answered ${timeWords(given?.at ?? 0)}; ${told}`;
    }
    case 'closed':
      return `closed ${timeWords(closedAt ?? 0)}: nobody waits for an answer any more`;
  }
}

/** What a yes means that comes when its session is over. */
function meaningLater({ question }: StoredQuestion): string {
  if (question.kind === 'input' || question.fields.length > 0) return '';
  return '; a yes is for the same request of the next run, once, and anything else is asked anew';
}

function waitText(until: number): string {
  const left = until - systemClock.now();
  return `until ${timeWords(until)}${left > 0 ? ` (${durationText(left)})` : ''}`;
}

function fieldLines({ name, label, options, allowsOther, isSecret }: QuestionField): string[] {
  const shown = harmlessLine(label) === harmlessLine(name) ? '' : `  ${harmlessLine(label)}`;
  const what = isSecret ? '  (a secret)' : options.length === 0 ? '  (any text)' : '';
  return [
    `  ${harmlessLine(name)}${shown}${what}`,
    ...options.map((option, at) => `    ${at + 1}  ${harmlessLine(option)}`),
    ...(options.length > 0 && allowsOther ? ['    or any other text'] : []),
  ];
}

function answerLines({ answer: { decision, values }, author, at }: GivenAnswer): string[] {
  const words = { accept: 'yes', accept_for_session: 'yes, for the whole session', decline: 'no' };
  return [
    `Answered by ${authorWords(author)}, ${timeWords(at)}: ${words[decision]}`,
    ...Object.entries(values).map(([name, value]) => `  ${harmlessLine(name)} = ${harmlessLine(value)}`),
  ];
}

function ways({ id, identifier, question }: StoredQuestion, { state }: QuestionState): string[] {
  const answer = `baton ask answer ${id}`;
  const no = `${answer} --no`;
  const secret = question.fields.find(({ isSecret }) => isSecret);
  if (secret !== undefined) {
    return [
      `baton takeover ${shellArgument(harmlessLine(identifier))}    (a secret is entered by hand, never here)`,
      no,
    ];
  }
  if (question.fields.length === 0) {
    const always = `${answer} --always    (and the same again without asking in this session)`;
    return [`${answer} --yes`, ...(state === 'agent_waits' ? [always] : []), no];
  }
  return [`${answer} ${placeholders(question)}`, no];
}

function placeholders({ fields }: AgentQuestion): string {
  const [first, ...others] = fields;
  const kindOf = ({ options, allowsOther }: QuestionField): string =>
    options.length > 0 && !allowsOther ? 'NUMBER' : 'TEXT';
  if (first !== undefined && others.length === 0) return kindOf(first);
  return fields.map((field) => `--field ${shellArgument(harmlessLine(field.name))}=${kindOf(field)}`).join(' ');
}
