import { BatonError } from '../../core/baton-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { answer, type BoardContext } from './board-context.ts';
import type { IssueFlags } from './issue-flags.ts';
import { issueAsJson } from './issue-json.ts';
import { wantedFields } from './wanted-fields.ts';

export interface EditFlags extends IssueFlags {
  readonly title?: string;
}

/** `baton issue edit ID`: changes what the flags name; the labels given take the place of those that were there. */
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
