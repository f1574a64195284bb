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
  return {
    states: boardStatuses,
    movesFrom,
    move: async (issue, to, by) => {
      const { id, identifier } = await board.find(issue);
      await board.move(id, statusOf(to), whoOf(by));
      return identifier;
    },
    comment: async (issue, text, { author }) => {
      const { id, identifier } = await board.find(issue);
      await board.comment(id, text, author);
      return identifier;
    },
    file: async ({ blocked_by: blockers, ...fields }, by: CommandOrigin) => {
      const draft = { ...fields, blockerIds: await blockersOf(blockers), clientKey: `command ${by.commandId}` };
      // The board checks it, field by field.
      const { issue } = await board.create(draft as NewIssue, whoOf(by));
      return issue.identifier;
    },
    edit: async (issue, { blocked_by: blockers, ...fields }, by) => {
      const found = await board.find(issue);
      if (Object.keys(fields).length > 0) await board.edit(found.id, fields as IssueEdit, whoOf(by));
      if (blockers !== undefined) await setBlockers(board, found, await blockersOf(blockers), whoOf(by));
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
