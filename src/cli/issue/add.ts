import type { BoardStatus } from '../../core/issue/board-status.ts';
import { exitCodes } from '../exit-codes.ts';
import { answer, type BoardContext } from './board-context.ts';
import type { IssueFlags } from './issue-flags.ts';
import { issueAsJson } from './issue-json.ts';
import { wantedFields } from './wanted-fields.ts';

export interface AddFlags extends IssueFlags {
  readonly status?: BoardStatus;
  readonly blockedBy?: readonly string[];
  readonly key?: string;
}

/** `baton issue add TITLE`: prints the identifier of the new issue, or of the one that was made with this key before. */
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
