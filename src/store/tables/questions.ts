import type { AgentQuestion, QuestionAnswer } from '../../core/command/question.ts';
import type { Author } from '../../core/issue/author.ts';
import type { IssueKey } from '../issue-key.ts';

/**
 * What agents asked people. A question is open until it is answered or closed; an answer that came too late for the run
 * that asked is for the next one, which marks it as delivered.
 */
export interface Questions {
  ask(question: QuestionDraft): Promise<void>;
  read(id: string): Promise<StoredQuestion | null>;
  /** Those that wait for an answer, the oldest first. */
  open(project: string): Promise<readonly StoredQuestion[]>;
  /** Newest first, answered and closed ones too. */
  list(
    project: string,
    query: { readonly issueId?: string; readonly limit: number },
  ): Promise<readonly StoredQuestion[]>;
  /** Answers once; false when it is unknown, answered or closed. */
  answer(id: string, given: GivenAnswer): Promise<boolean>;
  /** Nobody has to answer any more: it was taken back, or its issue is over. False when it is not open. */
  close(id: string, at: number): Promise<boolean>;
  /** Closes what is open of an issue; gives how many. */
  closeOfIssue(key: IssueKey, at: number): Promise<number>;
  /** Answers of an issue that no run has been told, the oldest first. */
  undelivered(key: IssueKey): Promise<readonly StoredQuestion[]>;
  /** The answers were told to a run. */
  deliver(ids: readonly string[], runId: string): Promise<void>;
  /**
   * Removes at most `limit` that were asked before this and are closed, or were answered before it too; gives how many.
   * An open one is never removed, however old, and a new answer to an old question stays until it could be told.
   */
  prune(askedBefore: number, limit: number): Promise<number>;
}

export interface QuestionDraft extends IssueKey {
  readonly id: string;
  readonly identifier: string;
  readonly runId: string;
  readonly askedAt: number;
  readonly question: AgentQuestion;
}

export interface GivenAnswer {
  readonly at: number;
  readonly author: Author;
  readonly answer: QuestionAnswer;
}

export interface StoredQuestion extends QuestionDraft {
  /** Null while it is open, or when it was closed without one. */
  readonly given: GivenAnswer | null;
  readonly closedAt: number | null;
  /** The run that was told the answer. */
  readonly deliveredTo: string | null;
}
