/** Which issues of the board were changed or commented on, by whichever process, since somebody last looked. */
export interface BoardNews {
  /** Where one who looks now begins. */
  latest(project: string): Promise<BoardNewsPlace>;
  /** Each changed issue once, and the place from which to look the next time; at most `limit` changes at a time. */
  after(
    project: string,
    place: BoardNewsPlace,
    limit: number,
  ): Promise<{ readonly issues: readonly ChangedIssue[]; readonly place: BoardNewsPlace; readonly isAll: boolean }>;
}

export interface BoardNewsPlace {
  readonly history: number;
  readonly comments: number;
}

export interface ChangedIssue {
  readonly id: string;
  readonly identifier: string;
}
