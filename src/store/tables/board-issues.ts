import type { BoardStatus } from '../../core/issue/board-status.ts';
import type { IssueKey } from '../issue-key.ts';

/** The board's own issues, with their labels and blockers. Rules of the board are `core`'s; this only keeps and finds. */
export interface BoardIssues {
  /**
   * Keeps every other change of the project's board out until the transaction ends: what is read after it stays true.
   * Only inside a transaction.
   */
  lock(project: string): Promise<void>;
  /** Makes an issue; with a `clientKey` that is known already it gives the issue made then, and `created` is false. */
  create(
    project: string,
    draft: BoardIssueDraft,
    at: number,
  ): Promise<{ readonly issue: BoardIssue; readonly created: boolean }>;
  /** Changes what the patch names and nothing else; null when there is no such issue. */
  update(key: IssueKey, patch: BoardIssuePatch, at: number): Promise<BoardIssue | null>;
  /** Sets the status if it still is `from`; null when it is not, or there is no such issue. The caller writes the history. */
  setStatus(
    key: IssueKey,
    change: { readonly from: BoardStatus; readonly to: BoardStatus },
    at: number,
  ): Promise<BoardIssue | null>;
  /** In the order asked; what is not there is left out. */
  readMany(project: string, ids: readonly string[]): Promise<readonly BoardIssue[]>;
  byIdentifier(project: string, identifier: string): Promise<BoardIssue | null>;
  /** In dispatch order (priority, created, identifier); uses an index, whatever the size of the board. */
  byStatuses(project: string, statuses: readonly BoardStatus[]): Promise<readonly BoardIssue[]>;
  /** One column, newest change first, page by page. */
  page(project: string, query: BoardPageQuery): Promise<BoardPage>;
  /**
   * Several columns, newest change first, page by page. Of each column at most `scan` issues are looked at for a page, so
   * that no question reads the whole board: where few fit, a page may be short, or empty, and have a next one.
   */
  list(project: string, query: BoardListQuery): Promise<BoardPage>;
  countByStatus(project: string): Promise<Readonly<Partial<Record<BoardStatus, number>>>>;
  children(key: IssueKey): Promise<readonly BoardIssue[]>;
  /** False when it was so already. A cycle is the caller's to refuse. */
  addBlocker(key: IssueKey, blockerId: string): Promise<boolean>;
  removeBlocker(key: IssueKey, blockerId: string): Promise<boolean>;
  /** Issues that the given one blocks. */
  blockedBy(key: IssueKey): Promise<readonly BoardIssue[]>;
}

export interface BoardIssue {
  readonly id: string;
  /** `<PREFIX>-<number>`, counted per project. */
  readonly identifier: string;
  readonly title: string;
  readonly description: string | null;
  readonly status: BoardStatus;
  readonly priority: number | null;
  readonly labels: readonly string[];
  readonly parentId: string | null;
  readonly branch: string | null;
  readonly url: string | null;
  readonly blockers: readonly { readonly id: string; readonly identifier: string; readonly status: BoardStatus }[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface BoardIssueDraft {
  readonly id: string;
  /** Of the identifier, such as `BAT`. */
  readonly prefix: string;
  readonly title: string;
  readonly description: string | null;
  readonly status: BoardStatus;
  readonly priority: number | null;
  readonly labels: readonly string[];
  readonly parentId: string | null;
  readonly branch: string | null;
  readonly url: string | null;
  readonly blockerIds: readonly string[];
  /** Chosen by the caller so that asking twice makes one issue. */
  readonly clientKey: string | null;
}

export type BoardIssuePatch = Partial<
  Pick<BoardIssueDraft, 'title' | 'description' | 'priority' | 'labels' | 'parentId' | 'branch' | 'url'>
>;

export interface BoardPageQuery {
  readonly status: BoardStatus;
  readonly limit: number;
  /** From the page before. */
  readonly after: string | null;
}

export interface BoardListQuery {
  readonly statuses: readonly BoardStatus[];
  readonly match: BoardMatch;
  readonly limit: number;
  readonly scan: number;
  /** From the page before. */
  readonly after: string | null;
}

/** What an issue must have; what is missing does not matter. */
export interface BoardMatch {
  /** Somewhere in identifier, title or description, whatever its case as far as letters of ASCII go. */
  readonly text?: string;
  readonly label?: string;
  readonly priority?: number | null;
}

export interface BoardPage {
  readonly issues: readonly BoardIssue[];
  /** For the next page; null at the end. */
  readonly next: string | null;
}
