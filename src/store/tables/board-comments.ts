import type { Author } from '../../core/issue/author.ts';
import type { IssueKey } from '../issue-key.ts';

/** What was said on the board's issues. */
export interface BoardComments {
  add(key: IssueKey, comment: Omit<BoardComment, 'seq'>): Promise<BoardComment>;
  list(key: IssueKey): Promise<readonly BoardComment[]>;
}

export interface BoardComment {
  /** Grows with each comment of the store. */
  readonly seq: number;
  readonly author: Author;
  readonly body: string;
  readonly at: number;
}
