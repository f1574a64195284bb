import type { BoardDetail } from '../../client/schema/board.ts';
import { askCommand } from '../../core/command/retry-command.ts';
import { harmlessLine, harmlessLines } from '../../core/text/harmless-line.ts';
import { exitCodes } from '../exit-codes.ts';
import { answer, type BoardContext } from './board-context.ts';
import { authorWords, historyWords, timeWords } from './history-words.ts';
import { messageWords } from './message-words.ts';

/** `baton issue show ID`: everything that is known of an issue. */
export async function show(name: string, _flags: unknown, context: BoardContext): Promise<number> {
  const details = await context.project.boardIssue(name);
  answer(context, details, detailsAsText(details, context));
  return exitCodes.ok;
}

function detailsAsText(details: BoardDetail, { here }: Pick<BoardContext, 'here'>): string {
  const { issue, parent, children, blocks, comments, messages, history } = details;
  const short = ({ identifier, status, title }: BoardDetail['blocks'][number]): string =>
    `${identifier} (${status}) ${harmlessLine(title)}`;
  const facts: [string, string][] = [
    ['status', issue.status],
    ['priority', issue.priority === null ? '' : String(issue.priority)],
    ['labels', harmlessLine(issue.labels.join(', '))],
    ['part of', parent === null ? '' : short(parent)],
    ...children.map((child): [string, string] => ['has part', short(child)]),
    ...issue.blocked_by.map(({ identifier, status }): [string, string] => ['waits for', `${identifier} (${status})`]),
    ...blocks.map((blocked): [string, string] => ['blocks', short(blocked)]),
    ...workFacts(details, here),
    ['branch', harmlessLine(issue.branch ?? '')],
    ['url', harmlessLine(issue.url ?? '')],
    ['created', timeWords(issue.created_at)],
    ['changed', timeWords(issue.updated_at)],
  ];
  const sections = [
    [
      `${issue.identifier}  ${harmlessLine(issue.title)}`,
      ...facts.filter(([, value]) => value !== '').map(([name, value]) => `  ${name.padEnd(10)}${value}`),
    ],
    issue.description === null ? [] : [harmlessLines(issue.description).trimEnd()],
    comments.length === 0
      ? []
      : [
          'Comments',
          ...comments.map(
            ({ at, author, body, status }) =>
              `  ${timeWords(at)}  ${authorWords(author)}${status === null ? '' : ` (${status})`}\n${indented(body)}`,
          ),
        ],
    messages.length === 0 ? [] : ['Messages', ...messages.map((each) => `  ${messageWords(each)}`)],
    ['History', ...history.map((entry) => `  ${historyWords(entry)}`)],
  ];
  return sections
    .filter((section) => section.length > 0)
    .map((section) => section.join('\n'))
    .join('\n\n');
}

/** What agents did: their open questions, the last run, and where its work is. */
function workFacts(
  { issue, open_questions: open, last_run: run }: BoardDetail,
  here: BoardContext['here'],
): [name: string, value: string][] {
  const asks = open.map(({ id, text }): [string, string] => [
    'asks you',
    `${harmlessLine(text)} · ${here(askCommand(open.length === 1 ? issue.identifier : id))}`,
  ]);
  if (run === null) return asks;
  return [
    ...asks,
    ['last run', `${run.run_id.slice(0, 8)}, ${timeWords(run.started_at)}: ${here(harmlessLine(run.text))}`],
    ['work', harmlessLine(run.work ?? '')],
  ];
}

function indented(text: string): string {
  const lines = harmlessLines(text).trimEnd().split('\n');
  return lines.map((line) => `    ${line}`.trimEnd()).join('\n');
}
