import { BatonError } from '../../core/baton-error.ts';
import { type BoardStatus, boardStatuses } from '../../core/issue/board-status.ts';
import type { CommandOrigin, IssueEditor } from '../tracker.ts';
import type { Board } from './board.ts';
import { movesFrom } from './board-transitions.ts';
import type { ChangeBy, IssueEdit, NewIssue } from './issue-fields.ts';

/** Changes issues of the board for commands of people; the board decides what is allowed. */
export function createBoardEditor(board: Board): IssueEditor {
  const blockersOf = async (names: unknown): Promise<string[]> =>
    Promise.all((Array.isArray(names) ? names : []).map(async (name) => (await board.find(String(name))).id));
  const withParent = async ({ parent, ...fields }: Readonly<Record<string, unknown>>): Promise<object> => {
    if (parent === undefined) return fields;
    return { ...fields, parentId: parent === null ? null : (await board.find(String(parent))).id };
  };
  return {
    states: boardStatuses,
    movesFrom,
    idOf: async (issue) => (await board.find(issue)).id,
    move: async (issue, to, by) => {
      const before = await board.find(issue);
      const after = await board.move(before.id, statusOf(to), whoOf(by));
      return { issue: after.identifier, moved: before.status !== after.status };
    },
    comment: async (issue, text, { author }) => {
      const { id, identifier } = await board.find(issue);
      const { seq, at } = await board.comment(id, text, author);
      return { issue: identifier, seq, at };
    },
    file: async ({ blocked_by: blockers, issue_key: key, ...fields }, by: CommandOrigin) => {
      const clientKey = key ?? `command ${by.commandId}`;
      const draft = { ...(await withParent(fields)), blockerIds: await blockersOf(blockers), clientKey };
      // The board checks it, field by field.
      const { issue, created } = await board.create(draft as NewIssue, whoOf(by));
      return { issue: issue.identifier, created };
    },
    edit: async (issue, fields, by) => {
      const { blocked_by: all, add_blocked_by: added, remove_blocked_by: removed, ...rest } = fields;
      const found = await board.find(issue);
      const [wanted, more, fewer] = [await blockersOf(all), await blockersOf(added), await blockersOf(removed)];
      if (Object.keys(rest).length > 0) await board.edit(found.id, (await withParent(rest)) as IssueEdit, whoOf(by));
      if (all !== undefined) await setBlockers(board, found, wanted, whoOf(by));
      for (const blocker of more) await board.block(found.id, blocker, whoOf(by));
      for (const blocker of fewer) await board.unblock(found.id, blocker, whoOf(by));
      return found.identifier;
    },
  };
}

async function setBlockers(
  board: Board,
  { id, blockers }: Awaited<ReturnType<Board['find']>>,
  wanted: readonly string[],
  by: ChangeBy,
): Promise<void> {
  const before = new Set(blockers.map((blocker) => blocker.id));
  for (const blocker of wanted) if (!before.has(blocker)) await board.block(id, blocker, by);
  for (const blocker of before) if (!wanted.includes(blocker)) await board.unblock(id, blocker, by);
}

function whoOf({ author, reason }: CommandOrigin): ChangeBy {
  return { author, reason };
}

function statusOf(text: string): BoardStatus {
  const found = boardStatuses.find((status) => status === text.trim().toLowerCase());
  if (found !== undefined) return found;
  throw new BatonError('board_move_refused', `There is no status "${text}"; there are ${boardStatuses.join(', ')}.`);
}
