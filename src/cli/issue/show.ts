import { harmlessLine, harmlessLines } from '../../core/text/harmless-line.ts';
import type { BoardIssue } from '../../store/tables/board-issues.ts';
import type { IssueDetails } from '../../tracker/board/read-board.ts';
import { exitCodes } from '../exit-codes.ts';
import { answer, type BoardContext } from './board-context.ts';
import { authorWords, historyWords, timeWords } from './history-words.ts';
import { issueAsJson } from './issue-json.ts';
import { type WorkOnIssue, workAsJson, workFacts } from './work-on-issue.ts';

/** `baton issue show ID`: everything that is known of an issue. */
export async function show(name: string, _flags: unknown, context: BoardContext): Promise<number> {
  const { board } = context;
  const { id } = await board.find(name);
  const details = await board.details(id);
  const work = await context.readWork(id);
  answer(context, { ...(await detailsAsJson(details, context)), ...workAsJson(work) }, detailsAsText(details, work));
  return exitCodes.ok;
}

async function detailsAsJson(details: IssueDetails, { board }: BoardContext): Promise<Record<string, unknown>> {
  const short = ({ identifier, status, title }: BoardIssue): object => ({ identifier, status, title });
  const iso = <T extends { readonly at: number }>(entry: T): object => ({
    ...entry,
    at: new Date(entry.at).toISOString(),
  });
  return {
    issue: await issueAsJson(board, details.issue),
    children: details.children.map(short),
    blocks: details.blocks.map(short),
    comments: details.comments.map(iso),
    history: details.history.map(iso),
  };
}

function detailsAsText(
  { issue, parent, children, blocks, comments, history }: IssueDetails,
  work: WorkOnIssue,
): string {
  const short = ({ identifier, status, title }: BoardIssue): string =>
    `${identifier} (${status}) ${harmlessLine(title)}`;
  const facts: [string, string][] = [
    ['status', issue.status],
    ['priority', issue.priority === null ? '' : String(issue.priority)],
    ['labels', harmlessLine(issue.labels.join(', '))],
    ['part of', parent === null ? '' : short(parent)],
    ...children.map((child): [string, string] => ['has part', short(child)]),
    ...issue.blockers.map(({ identifier, status }): [string, string] => ['waits for', `${identifier} (${status})`]),
    ...blocks.map((blocked): [string, string] => ['blocks', short(blocked)]),
    ...workFacts(work),
    ['branch', harmlessLine(issue.branch ?? '')],
    ['url', harmlessLine(issue.url ?? '')],
    ['created', timeWords(issue.createdAt)],
    ['changed', timeWords(issue.updatedAt)],
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
          ...comments.map(({ at, author, body }) => `  ${timeWords(at)}  ${authorWords(author)}\n${indented(body)}`),
        ],
    ['History', ...history.map((entry) => `  ${historyWords(entry)}`)],
  ];
  return sections
    .filter((section) => section.length > 0)
    .map((section) => section.join('\n'))
    .join('\n\n');
}

function indented(text: string): string {
  const lines = harmlessLines(text).trimEnd().split('\n');
  return lines.map((line) => `    ${line}`.trimEnd()).join('\n');
}
