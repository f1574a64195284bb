import type { NotifyCause } from '../../core/notify/notify-cause.ts';

/**
 * Who was told of what: one row for each cause and each target, so that nobody is told twice. What must hold:
 *
 * - A row is there before anything is sent, and each try is written down before it begins. After a crash in the middle of
 *   a try nobody knows whether it arrived; the next one carries the same message id.
 * - Of several daemons on one store, one begins a try.
 */
export interface Notifications {
  /**
   * Writes down that these causes are there at `at`; what was written before stays, but for two things: a cause that was
   * over is not over any more, and one that recurs and was over for `wellMs` begins anew. Gives all of them as they stand.
   */
  see(project: string, drafts: readonly NotificationDraft[], at: number, wellMs: number): Promise<StoredNotifications>;
  /** The causes that are not known to be over and were not sent, or may come again. */
  open(project: string): Promise<StoredNotifications>;
  /** These causes are not there any more, for any target. */
  over(project: string, causes: readonly string[], at: number): Promise<void>;
  /**
   * Begins a try for all of these, or for none and gives false: another began one, or it is not to be sent any more. Not
   * inside a transaction.
   */
  begin(ofMessage: MessageKey, attempt: NotificationTry): Promise<boolean>;
  sent(ofMessage: MessageKey, at: number): Promise<void>;
  /** `nextTryAt` null: it is not tried again. */
  failed(ofMessage: MessageKey, failure: { readonly error: string; readonly nextTryAt: number | null }): Promise<void>;
  /** Removes at most `limit` that were last seen before this; gives how many. */
  prune(seenBefore: number, limit: number): Promise<number>;
}

export type StoredNotifications = readonly StoredNotification[];

export interface NotificationDraft {
  /** A target by a name that does not change and tells no secret. */
  readonly target: string;
  readonly cause: NotifyCause;
}

/** The causes that one message tells a target. */
export interface MessageKey {
  readonly project: string;
  readonly target: string;
  readonly causes: readonly string[];
}

export interface NotificationTry {
  /** The id of the message, the same for every try. */
  readonly message: string;
  /** How many tries there were before. */
  readonly triesBefore: number;
  readonly at: number;
  /** When it is tried again if nobody hears of this one any more. */
  readonly nextTryAt: number;
}

export interface StoredNotification extends NotificationDraft {
  readonly firstSeenAt: number;
  readonly overAt: number | null;
  /** Null before the first try. */
  readonly message: string | null;
  readonly tries: number;
  readonly firstTryAt: number | null;
  /** Null when it was sent, and when nobody tries any more. */
  readonly nextTryAt: number | null;
  readonly sentAt: number | null;
  readonly error: string | null;
}
