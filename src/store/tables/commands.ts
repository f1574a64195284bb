import type { CommandAnswer } from '../../core/command/command-answers.ts';
import type { Author } from '../../core/issue/author.ts';

/**
 * Requests to change scheduling state, written by anybody, executed by the orchestrator alone, once, in the order of
 * their number. A command without a result waits.
 */
export interface Commands {
  /** With a `key` that is known already nothing is written and the command of then is given. */
  submit(command: CommandDraft): Promise<{ readonly command: Command; readonly created: boolean }>;
  read(id: string): Promise<Command | null>;
  /** The oldest first. */
  waiting(project: string, limit: number): Promise<readonly Command[]>;
  /** Notes what is about to be done of it, before it is; null takes that back. False when it has a result already. */
  begin(id: string, what: string | null): Promise<boolean>;
  /** Writes the result once; false when it has one already. */
  finish(id: string, result: CommandResult): Promise<boolean>;
  /** The newest of these kinds that was done; it stays when older commands are pruned. */
  latestDone(project: string, kinds: readonly string[]): Promise<Command | null>;
  /** Newest first. */
  list(project: string, limit: number): Promise<readonly Command[]>;
  /**
   * Newest first, in outline: of a payload only the texts `issue`, `question` and `reason`, and the beginning of `text` and
   * `note`, as what was said may be long. With `doneKinds` only those of these kinds that were done; others are not even looked at.
   */
  outlines(project: string, query: OutlineQuery): Promise<readonly Command[]>;
  /** Removes at most `limit` executed ones older than this; gives how many. */
  prune(executedBefore: number, limit: number): Promise<number>;
}

export interface OutlineQuery {
  readonly limit: number;
  readonly doneKinds?: readonly string[];
}

export interface CommandDraft {
  readonly id: string;
  readonly project: string;
  /** What is asked for, such as `pause` or `issue_retry`. */
  readonly kind: string;
  /** Its arguments, JSON data. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly author: Author;
  readonly at: number;
  readonly key: string | null;
}

export interface Command extends CommandDraft {
  readonly seq: number;
  /** What was about to be done of it when it was last tried, while it has no result; null: nothing. */
  readonly begun: string | null;
  /** Null while it waits. */
  readonly result: CommandResult | null;
}

export interface CommandResult extends CommandAnswer {
  readonly at: number;
}
