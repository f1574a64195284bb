import type { IssueEdit } from '../../tracker/board/issue-fields.ts';
import type { BoardContext } from './board-context.ts';
import { type IssueFlags, noneAsNull } from './issue-flags.ts';
import { textOrStdin } from './read-stdin.ts';

/** Read from stdin at most; the board itself says how much a description may have. */
const mostDescriptionBytes = 1024 * 1024;

/** The fields that the flags of `add` and `edit` ask for; what no flag names is not in it. */
export async function wantedFields(flags: IssueFlags, context: BoardContext): Promise<IssueEdit> {
  const { description, priority, label, parent, branch, url } = flags;
  const text = async (given: string): Promise<string> => textOrStdin(given, context.surroundings, mostDescriptionBytes);
  const parentName = parent === undefined ? null : noneAsNull(parent);
  return {
    ...(description === undefined ? {} : { description: await text(description) }),
    ...(priority === undefined ? {} : { priority: priority === 'none' ? null : priority }),
    ...(label === undefined ? {} : { labels: [...label] }),
    ...(parent === undefined
      ? {}
      : { parentId: parentName === null ? null : (await context.board.find(parentName)).id }),
    ...(branch === undefined ? {} : { branch: noneAsNull(branch) }),
    ...(url === undefined ? {} : { url: noneAsNull(url) }),
  };
}
