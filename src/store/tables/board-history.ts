import type { Author } from '../../core/issue/author.ts';
import type { IssueKey } from '../issue-key.ts';

/** Every change of the board's issues, never changed itself. Replayed from the first entry it gives the present issue. */
export interface BoardHistory {
  add(key: IssueKey, entry: Omit<BoardHistoryEntry, 'seq'>): Promise<void>;
  list(key: IssueKey): Promise<readonly BoardHistoryEntry[]>;
}

export interface BoardHistoryEntry {
  readonly seq: number;
  readonly at: number;
  readonly author: Author;
  /** What changed: a field, `status`, or `created`. */
  readonly field: string;
  /** JSON values; null where there was none. */
  readonly from: unknown;
  readonly to: unknown;
  readonly reason: string | null;
}
