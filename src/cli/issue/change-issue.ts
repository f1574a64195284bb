import { BatonError } from '../../core/baton-error.ts';
import type { BoardStatus } from '../../core/issue/board-status.ts';
import type { IssueEdit } from '../../tracker/board/issue-fields.ts';
import { exitCodes } from '../exit-codes.ts';
import { answer, type BoardContext } from './board-context.ts';
import { type IssueFlags, noneAsNull } from './issue-flags.ts';
import { issueAsJson } from './issue-json.ts';
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
  const { board, person, surroundings } = context;
  const blockers = [];
  for (const name of flags.blockedBy ?? []) blockers.push(await board.find(name));
  const { issue, created } = await board.create(
    {
      ...(await wantedFields(flags, context)),
      title,
      ...(flags.status === undefined ? {} : { status: flags.status }),
      blockerIds: blockers.map(({ id }) => id),
      clientKey: flags.key ?? null,
    },
    { author: person, reason: flags.reason ?? null },
  );
  answer(context, { created, issue: await issueAsJson(board, issue) }, issue.identifier);
  if (!created && !context.json) {
    surroundings.stderr.write(`${issue.identifier} was made with this key before; nothing was changed.\n`);
  }
  return exitCodes.ok;
}

interface EditFlags extends IssueFlags {
  readonly title?: string;
}

/** `baton issue edit ID`: changes what the flags name; the given labels replace the existing ones. */
export async function edit(name: string, flags: EditFlags, context: BoardContext): Promise<number> {
  const { board, person } = context;
  const { id } = await board.find(name);
  const wanted = {
    ...(await wantedFields(flags, context)),
    ...(flags.title === undefined ? {} : { title: flags.title }),
  };
  if (Object.keys(wanted).length === 0) {
    throw new BatonError('usage_error', 'No change is asked for.', { nextStep: 'See `baton issue edit --help`.' });
  }
  const issue = await board.edit(id, wanted, { author: person, reason: flags.reason ?? null });
  answer(context, { issue: await issueAsJson(board, issue) }, `${issue.identifier} is changed.`);
  return exitCodes.ok;
}

/** `baton issue move ID STATUS`: moves it by the rules for people. */
export async function move(
  name: string,
  to: BoardStatus,
  flags: { readonly reason?: string },
  context: BoardContext,
): Promise<number> {
  const { board, surroundings } = context;
  // A shell moves as a person, also in a hook of a run; an agent moves with its tool.
  const person =
    context.person.kind === 'run' ? ({ kind: 'person', name: surroundings.userName } as const) : context.person;
  const { id, status } = await board.find(name);
  const issue = await board.move(id, to, { author: person, reason: flags.reason ?? null });
  const moved = status !== issue.status;
  const text = moved ? `is now in ${to}` : `was in ${to} already`;
  answer(context, { moved, issue: await issueAsJson(board, issue) }, `${issue.identifier} ${text}.`);
  return exitCodes.ok;
}

/** `baton issue comment ID TEXT`. */
export async function comment(name: string, text: string, _flags: unknown, context: BoardContext): Promise<number> {
  const { board, person } = context;
  const { id, identifier } = await board.find(name);
  const { seq, at, author, body } = await board.comment(
    id,
    await textOrStdin(text, context.surroundings, mostTextBytes),
    person,
  );
  const made = { seq, at: new Date(at).toISOString(), author, body };
  answer(context, { identifier, comment: made }, `${identifier} has a new comment.`);
  return exitCodes.ok;
}

interface BlockFlags {
  /** The issues that must finish first. */
  readonly by: readonly string[];
  readonly reason?: string;
}

/** `baton issue block ID --by OTHER`. */
export function block(name: string, flags: BlockFlags, context: BoardContext): Promise<number> {
  return changeBlockers('block', name, flags, context);
}

/** `baton issue unblock ID --by OTHER`. */
export function unblock(name: string, flags: BlockFlags, context: BoardContext): Promise<number> {
  return changeBlockers('unblock', name, flags, context);
}

async function changeBlockers(
  verb: 'block' | 'unblock',
  name: string,
  flags: BlockFlags,
  context: BoardContext,
): Promise<number> {
  const { board, person } = context;
  let issue = await board.find(name);
  const blockers = [];
  for (const other of flags.by) blockers.push(await board.find(other));
  for (const { id } of blockers)
    issue = await board[verb](issue.id, id, { author: person, reason: flags.reason ?? null });
  const waits = issue.blockers.map(({ identifier, status }) => `${identifier} (${status})`).join(', ');
  const text = waits === '' ? 'waits for nothing' : `waits for ${waits}`;
  answer(context, { issue: await issueAsJson(board, issue) }, `${issue.identifier} ${text}.`);
  return exitCodes.ok;
}

/** The fields that the flags of `add` and `edit` set; the others are missing. */
async function wantedFields(flags: IssueFlags, context: BoardContext): Promise<IssueEdit> {
  const { description, priority, label, parent, branch, url } = flags;
  const parentName = parent === undefined ? null : noneAsNull(parent);
  return {
    ...(description === undefined
      ? {}
      : { description: await textOrStdin(description, context.surroundings, mostTextBytes) }),
    ...(priority === undefined ? {} : { priority: priority === 'none' ? null : priority }),
    ...(label === undefined ? {} : { labels: [...label] }),
    ...(parent === undefined
      ? {}
      : { parentId: parentName === null ? null : (await context.board.find(parentName)).id }),
    ...(branch === undefined ? {} : { branch: noneAsNull(branch) }),
    ...(url === undefined ? {} : { url: noneAsNull(url) }),
  };
}
