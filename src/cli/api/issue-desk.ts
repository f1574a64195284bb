import { BatonError } from '../../core/baton-error.ts';
import { type BoardStatus, boardStatuses } from '../../core/board-status.ts';
import type { DeskOrder, IssueDesk } from '../../orchestrator/context.ts';
import type { Board } from '../../tracker/board/board.ts';
import type { ChangeBy, IssueEdit, NewIssue } from '../../tracker/board/issue-fields.ts';

/** The desk of Baton's own board, and what it has filed. */
export interface BoardDesk extends IssueDesk {
  /** The identifier of the issue that a command filed; null when it filed none here. */
  filedBy(commandId: string): string | null;
}

const mostRemembered = 100;

/** Changes issues of the board as commands ask for it; the board itself says what is allowed. */
export function createBoardDesk(board: () => Board): BoardDesk {
  const filed = new Map<string, string>();
  const blockersOf = async (names: unknown): Promise<string[]> =>
    Promise.all((Array.isArray(names) ? names : []).map(async (name) => (await board().find(String(name))).id));
  return {
    move: async (issue, to, by) => {
      const { id, identifier } = await board().find(issue);
      await board().move(id, statusOf(to), whoOf(by));
      return `${identifier} is in ${to} now`;
    },
    comment: async (issue, text, { author }) => {
      const { id, identifier } = await board().find(issue);
      await board().comment(id, text, author);
      return `the comment is on ${identifier}`;
    },
    file: async ({ blocked_by: blockers, ...fields }, by: DeskOrder) => {
      const draft = { ...fields, blockerIds: await blockersOf(blockers), clientKey: `command ${by.commandId}` };
      // Checked by the board, field by field.
      const { issue } = await board().create(draft as NewIssue, whoOf(by));
      filed.set(by.commandId, issue.identifier);
      const [oldest] = filed.keys();
      if (filed.size > mostRemembered && oldest !== undefined) filed.delete(oldest);
      return `${issue.identifier} is filed`;
    },
    edit: async (issue, { blocked_by: blockers, ...fields }, by) => {
      const found = await board().find(issue);
      if (Object.keys(fields).length > 0) await board().edit(found.id, fields as IssueEdit, whoOf(by));
      if (blockers !== undefined) await setBlockers(board(), found, await blockersOf(blockers), whoOf(by));
      return `${found.identifier} is changed`;
    },
    filedBy: (commandId) => filed.get(commandId) ?? null,
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

function whoOf({ author, reason }: DeskOrder): ChangeBy {
  return { author, reason };
}

function statusOf(text: string): BoardStatus {
  const found = boardStatuses.find((status) => status === text.trim().toLowerCase());
  if (found !== undefined) return found;
  throw new BatonError('board_move_refused', `There is no status "${text}"; there are ${boardStatuses.join(', ')}.`);
}
