import type { BoardIssue } from '../../client/schema/board.ts';
import type { CommandRequest } from '../../client/schema/command.ts';
import { BatonError } from '../../core/baton-error.ts';
import type { BoardStatus } from '../../core/issue/board-status.ts';
import { exitCodes } from '../exit-codes.ts';
import { answer, type BoardContext } from './board-context.ts';
import { type IssueFlags, noneAsNull } from './issue-flags.ts';
import { textOrStdin } from './read-stdin.ts';

/** The most that is read from stdin; the board itself limits the length of a text. */
const mostTextBytes = 1024 * 1024;

interface AddFlags extends IssueFlags {
  readonly status?: BoardStatus;
  readonly blockedBy?: readonly string[];
  readonly key?: string;
}

/** `baton issue add TITLE`: prints the identifier of the new issue, or of the earlier one with the same key. */
export async function add(title: string, flags: AddFlags, context: BoardContext): Promise<number> {
  const { status, blockedBy, key } = flags;
  const { data } = await context.change({
    kind: 'issue_file',
    ...(await wantedFields(flags, context)),
    title,
    ...(status === undefined ? {} : { status }),
    ...(blockedBy === undefined ? {} : { blocked_by: [...blockedBy] }),
    ...(key === undefined ? {} : { issue_key: key }),
  });
  const issue = await readIssue(context, data.issue);
  const created = data.created === true;
  answer(context, { created, issue }, issue.identifier);
  if (!created && !context.json)
    context.surroundings.stderr.write(`${issue.identifier} was created with this key before. Nothing changed.\n`);
  return exitCodes.ok;
}

interface EditFlags extends IssueFlags {
  readonly title?: string;
}

/** `baton issue edit ID`: changes what the flags name; the given labels replace the existing ones. */
export async function edit(name: string, flags: EditFlags, context: BoardContext): Promise<number> {
  const { title } = flags;
  const wanted = { ...(await wantedFields(flags, context)), ...(title === undefined ? {} : { title }) };
  if (Object.keys(wanted).length === 0)
    throw new BatonError('usage_error', 'The command names no change.', { nextStep: 'See `baton issue edit --help`.' });
  const { data } = await context.change({ kind: 'issue_edit', issue: name, ...wanted });
  const issue = await readIssue(context, data.issue);
  answer(context, { issue }, `${issue.identifier} is changed.`);
  return exitCodes.ok;
}

/** `baton issue move ID STATUS`: moves it by the rules for people; inside a run, its own issue by those for agents. */
export async function move(name: string, to: BoardStatus, _flags: unknown, context: BoardContext): Promise<number> {
  const { data } = await context.change({ kind: 'issue_move', issue: name, to });
  const issue = await readIssue(context, data.issue);
  const moved = data.moved === true;
  answer(context, { moved, issue }, `${issue.identifier} ${moved ? `is now in ${to}` : `was in ${to} already`}.`);
  return exitCodes.ok;
}

/** `baton issue comment ID TEXT`. */
export async function comment(name: string, text: string, _flags: unknown, context: BoardContext): Promise<number> {
  const body = await textOrStdin(text, context.surroundings, mostTextBytes);
  const { data, author, text: said } = await context.change({ kind: 'issue_comment', issue: name, text: body });
  const { issue: identifier, seq, at } = data;
  answer(context, { identifier, comment: { seq, at, author, body } }, context.here(said));
  return exitCodes.ok;
}

interface BlockFlags {
  /** The issues that must finish first. */
  readonly by: readonly string[];
}

/** `baton issue block ID --by OTHER`. */
export function block(name: string, { by }: BlockFlags, context: BoardContext): Promise<number> {
  return changeBlockers({ kind: 'issue_edit', issue: name, add_blocked_by: [...by] }, context);
}

/** `baton issue unblock ID --by OTHER`. */
export function unblock(name: string, { by }: BlockFlags, context: BoardContext): Promise<number> {
  return changeBlockers({ kind: 'issue_edit', issue: name, remove_blocked_by: [...by] }, context);
}

async function changeBlockers(request: CommandRequest, context: BoardContext): Promise<number> {
  const { data } = await context.change(request);
  const issue = await readIssue(context, data.issue);
  const waits = issue.blocked_by.map(({ identifier, status }) => `${identifier} (${status})`).join(', ');
  const text = waits === '' ? 'waits for nothing' : `waits for ${waits}`;
  answer(context, { issue }, `${issue.identifier} ${text}.`);
  return exitCodes.ok;
}

/** The issue as it is after the change. */
async function readIssue({ project }: BoardContext, identifier: unknown): Promise<BoardIssue> {
  return (await project.boardIssue(String(identifier))).issue;
}

type WantedFields = Omit<Extract<CommandRequest, { kind: 'issue_edit' }>, 'kind' | 'issue' | 'title'>;

/** The fields that the flags of `add` and `edit` set; the others are missing. */
async function wantedFields(flags: IssueFlags, { surroundings }: BoardContext): Promise<WantedFields> {
  const { description, priority, label, parent, branch, url } = flags;
  return {
    ...(description === undefined ? {} : { description: await textOrStdin(description, surroundings, mostTextBytes) }),
    ...(priority === undefined ? {} : { priority: priority === 'none' ? null : priority }),
    ...(label === undefined ? {} : { labels: [...label] }),
    ...(parent === undefined ? {} : { parent: noneAsNull(parent) }),
    ...(branch === undefined ? {} : { branch: noneAsNull(branch) }),
    ...(url === undefined ? {} : { url: noneAsNull(url) }),
  };
}
