import type { HistoryEntry } from '../../../client/schema/issue.ts';
import { shortWords, wordsOfAnswer } from '../../../core/command/person-words.ts';
import { isMeantBy } from '../../../core/issue/issue.ts';
import { certainTime } from '../../../core/text/time-text.ts';
import type { BoardHistoryEntry } from '../../../store/tables/board-history.ts';
import type { Command } from '../../../store/tables/commands.ts';
import type { StoredQuestion } from '../../../store/tables/words/questions.ts';
import { presentAuthor } from './present-command.ts';

export interface HistoryFacts {
  readonly issue: { readonly id: string; readonly identifier: string };
  readonly board: readonly BoardHistoryEntry[];
  /** All commands of the project, in any order. */
  readonly commands: readonly Command[];
  /** The questions of the issue: the command of an answer names only its question. */
  readonly questions: readonly Pick<StoredQuestion, 'id' | 'question' | 'given'>[];
}

/** More than a person reads; the newest entries stay. */
const mostEntries = 500;

/** The board records these commands itself, and reports what they changed. */
export const boardCommands: ReadonlySet<string> = new Set(['issue_move', 'issue_comment', 'issue_file', 'issue_edit']);

/** The history of an issue with its authors: changes on the board and completed commands, by time. */
export function issueHistory({ issue, board, commands, questions }: HistoryFacts): HistoryEntry[] {
  const byId = new Map(questions.map((each) => [each.id, each]));
  const asked = ({ payload }: Command) =>
    typeof payload.question === 'string' ? byId.get(payload.question) : undefined;
  const isAbout = (command: Command): boolean =>
    (typeof command.payload.issue === 'string' && isMeantBy(issue, command.payload.issue)) ||
    asked(command) !== undefined;
  const changes = board.map((entry) => ({
    at: entry.at,
    entry: { author: entry.author, what: entry.field, from: entry.from, to: entry.to, reason: entry.reason },
  }));
  const acts = commands
    .filter((command) => !boardCommands.has(command.kind) && command.result?.status === 'done' && isAbout(command))
    .toSorted((left, right) => left.seq - right.seq)
    .map((command) => ({
      at: command.at,
      entry: {
        author: command.author,
        what: command.kind,
        from: null,
        to: outcomeOf(command, asked(command)),
        reason: textIn(command.payload.reason),
      },
    }));
  return [...changes, ...acts]
    .toSorted((left, right) => left.at - right.at)
    .slice(-mostEntries)
    .map(({ at, entry }) => ({ ...entry, at: certainTime(at), author: presentAuthor(entry.author) }));
}

/** The result of the command, with the person's own words. */
function outcomeOf({ payload, result }: Command, asked: HistoryFacts['questions'][number] | undefined): string | null {
  const outcome = result?.text ?? null;
  const given = asked?.given ?? null;
  const said =
    asked !== undefined && given !== null
      ? wordsOfAnswer(asked.question, given.answer)
      : (textIn(payload.text) ?? textIn(payload.note));
  return said === null || outcome === null ? outcome : `${outcome.replace(/\.$/, '')}: “${shortWords(said)}”`;
}

function textIn(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}
