import type { Author } from '../../core/issue/author.ts';
import type { Surroundings } from '../../daemon/surroundings.ts';
import { escapeInvisible } from '../../telemetry/harmless-text.ts';
import type { Board } from '../../tracker/board/board.ts';
import type { WorkOnIssue } from './work-on-issue.ts';

/** How the commands reach a board. */
export interface BoardAccess {
  /** Opens the board of a workflow file. Rejects when the file is bad or its tracker is not the board. */
  open(place: BoardPlace): Promise<OpenBoard>;
  readonly surroundings: BoardSurroundings;
}

export interface BoardPlace {
  /** As typed, relative to the current folder. */
  readonly workflow: string;
  readonly stateDir?: string;
}

export interface OpenBoard {
  readonly board: Board;
  /** What agents did on an issue. */
  readWork(issueId: string): Promise<WorkOnIssue>;
  /** Wakes a running daemon if something changed, and closes the store. */
  close(): Promise<void>;
}

export type BoardSurroundings = Pick<Surroundings, 'cwd' | 'stdout' | 'stderr' | 'env'> & {
  /** The login name: the author of changes without `--as`. */
  readonly userName: string;
  readonly stdin: AsyncIterable<string | Uint8Array>;
};

/** What one command needs. */
export interface BoardContext {
  readonly board: Board;
  readonly readWork: OpenBoard['readWork'];
  /** The author of the command: a person, or the run that calls it. */
  readonly person: Author;
  readonly surroundings: BoardSurroundings;
  readonly json: boolean;
}

/** Writes one answer: JSON for programs; for people text, which is passed without a final line feed. */
export function answer({ json, surroundings }: BoardContext, value: unknown, text: string): void {
  surroundings.stdout.write(json ? `${escapeInvisible(JSON.stringify(value, null, 2))}\n` : `${text}\n`);
}
