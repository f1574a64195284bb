import type { Question } from '../../client/schema/question.ts';
import { durationText } from '../../core/text/amount-text.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import { connect } from '../../daemon/connect.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../../daemon/workplace.ts';
import { cut } from '../cell-text.ts';
import { columns } from '../columns.ts';
import { exitCodes } from '../exit-codes.ts';
import { jsonLine } from '../json-line.ts';
import { commandsHere } from '../place-flags.ts';

export interface AskFlags extends WorkplaceFlags {
  readonly json?: boolean;
}

/** The shortest beginning of an id that is shown, if it is unique. */
const shortestId = 8;

/** How much of a question a line shows. */
const longestText = 100;

const stateWords: Readonly<Record<Question['standing'], string>> = {
  agent_waits: 'its agent is waiting',
  run_ended: 'its run has ended',
  unattended: 'no agent is waiting now',
  answered: 'answered',
  closed: 'closed',
};

/** `baton ask list`: one line per question. */
export async function listQuestions(
  flags: AskFlags & { readonly all?: boolean; readonly limit?: number },
  surroundings: Surroundings,
): Promise<number> {
  await using connection = await connect(flags, surroundings);
  const questions = await connection.project.questions(flags.all ? { latest: flags.limit ?? 50 } : 'open');
  const now = surroundings.clock.now();
  const here = commandsHere(flags, surroundings);
  surroundings.stdout.write(flags.json ? jsonLine({ questions: questions.map(asJson) }) : table(questions, now, here));
  return exitCodes.ok;
}

/** In the JSON of this command, `state` is the detailed standing of a question. */
export function asJson({ standing, ...question }: Question): Omit<Question, 'standing' | 'state'> & {
  readonly state: Question['standing'];
} {
  return { ...question, state: standing };
}

function table(questions: readonly Question[], now: number, here: (text: string) => string): string {
  if (questions.length === 0) return 'No questions are open.\n';
  const ids = questions.map(({ id }) => id);
  const rows = questions.map((question) =>
    [
      shortId(question.id, ids),
      question.issue_identifier,
      question.kind,
      durationText(Math.max(0, now - Date.parse(question.asked_at))),
      stateText(question),
      cut(harmlessLine(question.text), longestText),
    ].map(harmlessLine),
  );
  const lines = columns(['ID', 'ISSUE', 'KIND', 'AGE>', 'STATE', 'QUESTION'], rows);
  return `${[...lines, '', `To read one in full and see how to answer it: ${here('baton ask show ID')}`].join('\n')}\n`;
}

function stateText({ standing, waits_until }: Question): string {
  return stateWords[standing] + (waits_until === null ? '' : ` until ${waits_until.slice(11, 16)}Z`);
}

/** The shortest beginning of an id that no other one shares. */
function shortId(id: string, ids: readonly string[]): string {
  const others = ids.filter((each) => each !== id);
  let length = shortestId;
  while (length < id.length && others.some((each) => each.startsWith(id.slice(0, length)))) length += 1;
  return id.slice(0, length);
}
