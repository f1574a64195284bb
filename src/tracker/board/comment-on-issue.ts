import type { Author } from '../../core/issue/author.ts';
import type { BoardComment } from '../../store/tables/board-comments.ts';
import type { BoardParts } from './board.ts';
import { changeBy, checked, commentBody } from './issue-fields.ts';
import { requireIssue } from './require-issue.ts';

/** Says something about an issue. A comment carries its own author and time, so history does not repeat it. */
export async function commentOnIssue(
  parts: BoardParts,
  id: string,
  body: string,
  author: Author,
): Promise<BoardComment> {
  checked(changeBy, { author }, 'change');
  const text = checked(commentBody, body, 'comment');
  const { store, project, clock } = parts;
  const comment = await store.transaction(async (tables) => {
    // In the order of their numbers, so that who reads on from the last one misses none.
    await tables.boardIssues.lock(project);
    await requireIssue(tables, project, id);
    return tables.boardComments.add({ project, issueId: id }, { author, body: text, at: clock.now() });
  });
  parts.onChange();
  return comment;
}
