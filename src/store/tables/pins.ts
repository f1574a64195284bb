import type { Author } from '../../core/issue/author.ts';
import type { IssueKey } from '../issue-key.ts';

/** Issues whose workspace stays until a person says otherwise. */
export interface Pins {
  /** One that is pinned already stays as it is. */
  put(pin: Pin): Promise<void>;
  /** False when it was not pinned. */
  remove(key: IssueKey): Promise<boolean>;
  /** In the order of their ids. */
  list(project: string): Promise<readonly Pin[]>;
}

export interface Pin extends IssueKey {
  readonly identifier: string;
  readonly since: number;
  readonly author: Author;
}
