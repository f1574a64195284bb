import type { Question } from '../../client/schema/question.ts';
import { durationText } from '../../core/text/amount-text.ts';
import { harmlessLine, harmlessLines } from '../../core/text/harmless-line.ts';
import { shellArgument } from '../../core/text/shell-argument.ts';
import { connect } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { exitCodes } from '../exit-codes.ts';
import { authorWords, timeWords } from '../issue/history-words.ts';
import { jsonLine } from '../json-line.ts';
import { commandsHere } from '../place-flags.ts';
import { type AskFlags, asJson } from './list-questions.ts';

/** `baton ask show`: the whole question, its state, and the ways to answer it. */
export async function showQuestion(id: string, flags: AskFlags, surroundings: Surroundings): Promise<number> {
  await using connection = await connect(flags, surroundings);
  const question = await connection.project.question(id);
  const now = surroundings.clock.now();
  const here = commandsHere(flags, surroundings);
  surroundings.stdout.write(flags.json ? jsonLine({ question: asJson(question) }) : described(question, now, here));
  return exitCodes.ok;
}

function described(question: Question, now: number, here: (text: string) => string): string {
  const detail = harmlessLines(question.detail).trimEnd();
  const sections = [
    [
      `${harmlessLine(question.issue_identifier)} asks: ${harmlessLine(question.text)}`,
      `  id        ${question.id}`,
      `  kind      ${question.kind}`,
      `  run       ${harmlessLine(question.run_id)}`,
      `  asked     ${timeWords(question.asked_at)}`,
      `  state     ${stateSentence(question, now)}`,
    ],
    detail === '' ? [] : detail.split('\n').map((line) => `  | ${line}`.trimEnd()),
    question.fields.flatMap(fieldLines),
    question.answer === null ? [] : answerLines(question.answer),
    question.state === 'open' ? ['To answer', ...ways(question).map((way) => `  ${here(way)}`)] : [],
  ];
  return `${sections
    .filter((section) => section.length > 0)
    .map((section) => section.join('\n'))
    .join('\n\n')}\n`;
}

function stateSentence(question: Question, now: number): string {
  const { standing, answer, closed_at } = question;
  const issue = harmlessLine(question.issue_identifier);
  switch (standing) {
    case 'agent_waits':
      return `its agent waits for an answer ${waitText(question.waits_until ?? '', now)}; without one, the run ends and ${issue} is held`;
    case 'run_ended':
      return `its run has ended; after an answer, the next run of ${issue} continues where it stopped${meaningLater(question)}`;
    case 'unattended':
      return `no agent is waiting now; the next run gets your answer${meaningLater(question)}`;
    case 'answered': {
      const run = answer?.delivered_to ?? null;
      const received = run === null ? 'no run has received it yet' : `run ${harmlessLine(run)} received it`;
      return `answered ${timeWords(answer?.at ?? 0)}; ${received}`;
    }
    case 'closed':
      return `closed ${timeWords(closed_at ?? 0)}: no agent is waiting for an answer any more`;
  }
}

/** What a yes means after the session has ended. */
function meaningLater({ kind, fields }: Question): string {
  if (kind === 'input' || fields.length > 0) return '';
  return '; a yes allows the same request once in the next run, and any other request is asked again';
}

function waitText(until: string, now: number): string {
  const left = Date.parse(until) - now;
  return `until ${timeWords(until)}${left > 0 ? ` (${durationText(left)} left)` : ''}`;
}

function fieldLines({ name, label, options, allows_other: allowsOther, is_secret: isSecret }: Field): string[] {
  const shown =
    harmlessLine(label).toLowerCase() === harmlessLine(name).toLowerCase() ? '' : `  ${harmlessLine(label)}`;
  const what = isSecret ? '  (a secret)' : options.length === 0 ? '  (any text)' : '';
  return [
    `  ${harmlessLine(name)}${shown}${what}`,
    ...options.map((option, at) => `    ${at + 1}  ${harmlessLine(option)}`),
    ...(options.length > 0 && allowsOther ? ['    or any other text'] : []),
  ];
}

type Field = Question['fields'][number];

function answerLines({ decision, values, author, at }: NonNullable<Question['answer']>): string[] {
  const words: Readonly<Record<string, string>> = {
    accept: 'yes',
    accept_for_session: 'yes, for the whole session',
    decline: 'no',
  };
  return [
    `Answered by ${authorWords(author)}, ${timeWords(at)}: ${words[decision] ?? harmlessLine(decision)}`,
    ...Object.entries(values).map(([name, value]) => `  ${harmlessLine(name)} = ${harmlessLine(value)}`),
  ];
}

function ways({ id, issue_identifier: identifier, fields, standing }: Question): string[] {
  const answer = `baton ask answer ${id}`;
  const no = `${answer} --no${fields.length === 0 ? '' : '    (tells the agent that you give no answer)'}`;
  const secret = fields.find(({ is_secret }) => is_secret);
  if (secret !== undefined) {
    return [
      `baton takeover ${shellArgument(harmlessLine(identifier))}    (enter a secret by hand, never in an answer)`,
      no,
    ];
  }
  if (fields.length === 0) {
    const always = `${answer} --always    (also allows the same request again in this session)`;
    return [`${answer} --yes`, ...(standing === 'agent_waits' ? [always] : []), no];
  }
  return [`${answer} ${placeholders(fields)}`, no];
}

function placeholders(fields: readonly Field[]): string {
  const [first, ...others] = fields;
  const kindOf = ({ options, allows_other }: Field): string =>
    options.length > 0 && !allows_other ? 'NUMBER' : 'TEXT';
  if (first !== undefined && others.length === 0) return kindOf(first);
  return fields.map((field) => `--field ${shellArgument(harmlessLine(field.name))}=${kindOf(field)}`).join(' ');
}
