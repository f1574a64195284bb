import type { NotifyCause } from '../../core/notify/notify-cause.ts';
import { isOfOtherDaemon, recurAfterMs } from '../../core/notify/notify-cause.ts';
import type { MessageKey, Notifications, StoredNotification } from '../../store/tables/notifications.ts';

/** How often a lasting cause is recorded again, so that it is not pruned as an old one. */
const seenAgainMs = 24 * 3_600_000;

/** A target, and the causes that it wants. */
export interface Listener {
  readonly id: string;
  readonly wants: (cause: NotifyCause) => boolean;
}

/** One cause for one target. */
export interface Entry {
  row: StoredNotification;
  /** When the store last recorded that the cause is present. */
  readonly seenAt: number;
  /** It is being sent, or its result is being written: it must not change meanwhile. */
  isUnderWay: boolean;
}

interface RecordsOptions {
  readonly notifications: Notifications;
  readonly project: string;
  readonly daemon: string;
}

/**
 * Records which cause was sent to which target: all causes that last, and events (`happening`) that were not sent yet. The
 * store has each record before anything is sent. A cause that ended and was sent is dropped from memory; the store keeps it.
 */
export class NotificationRecords {
  readonly #options: RecordsOptions;
  readonly #entries = new Map<string, Entry>();
  #isLoaded = false;
  #present: ReadonlyMap<string, NotifyCause> = new Map();

  constructor(options: RecordsOptions) {
    this.#options = options;
  }

  /** Records new and ended causes. Rejects when the store fails; the next call does the rest. */
  async bringUpToDate(
    causes: readonly NotifyCause[],
    listeners: readonly Listener[],
    { at, isComplete }: { readonly at: number; readonly isComplete: boolean },
  ): Promise<void> {
    await this.#load(at);
    this.#present = new Map(causes.map((cause) => [cause.key, cause]));
    if (isComplete) await this.#noteOver(at);
    await this.#noteSeen(causes, listeners, at);
    this.#forget(new Set(listeners.map(({ id }) => id)));
  }

  /** The causes that may be sent to a target: present and not sent yet, the earliest seen first. */
  unsent(target: string): readonly Entry[] {
    return [...this.#entries.values()]
      .filter(({ row }) => row.target === target && row.sentAt === null && row.nextTryAt !== null)
      .filter(({ row, isUnderWay }) => !isUnderWay && this.#isStillSo(row))
      .sort((a, b) => a.row.firstSeenAt - b.row.firstSeenAt);
  }

  /** The facts for a message: the current ones if they are known, otherwise those of the first sighting. */
  factsOf({ row: { cause } }: Entry): NotifyCause {
    const now = this.#present.get(cause.key);
    return now?.event === cause.event ? now : cause;
  }

  /** Another daemon sends them, so their state must be read again. */
  forget(entries: readonly Entry[]): void {
    for (const { row } of entries) this.#entries.delete(nameOf(row.cause.key, row.target));
  }

  /** The key of a message in the store. */
  messageKey(target: string, entries: readonly Entry[]): MessageKey {
    return { project: this.#options.project, target, causes: entries.map(({ row }) => row.cause.key) };
  }

  async #load(at: number): Promise<void> {
    if (this.#isLoaded) return;
    const { notifications, project, daemon } = this.#options;
    for (const row of await notifications.open(project)) {
      if (isOfOtherDaemon(row.cause.key, daemon)) continue;
      // A previous daemon saw it; the facts show whether it is still present.
      this.#entries.set(nameOf(row.cause.key, row.target), { row, seenAt: at - seenAgainMs, isUnderWay: false });
    }
    this.#isLoaded = true;
  }

  async #noteOver(at: number): Promise<void> {
    const gone = [...this.#entries.values()].filter(({ row }) => !this.#isStillSo(row) && !this.#isUsed(row));
    if (gone.length === 0) return;
    const { notifications, project } = this.#options;
    await notifications.over(project, [...new Set(gone.map(({ row }) => row.cause.key))], at);
    this.forget(gone);
  }

  async #noteSeen(causes: readonly NotifyCause[], listeners: readonly Listener[], at: number): Promise<void> {
    const drafts = listeners.flatMap(({ id, wants }) =>
      causes
        .filter((cause) => wants(cause) && this.#isNews(nameOf(cause.key, id), at))
        .map((cause) => ({ target: id, cause })),
    );
    if (drafts.length === 0) return;
    const { notifications, project } = this.#options;
    for (const row of await notifications.see(project, drafts, at, recurAfterMs)) {
      this.#entries.set(nameOf(row.cause.key, row.target), { row, seenAt: at, isUnderWay: false });
    }
  }

  #isNews(name: string, at: number): boolean {
    const entry = this.#entries.get(name);
    return entry === undefined || (!entry.isUnderWay && at - entry.seenAt >= seenAgainMs);
  }

  /** Drops events that were sent or given up, and everything for targets that the file no longer has. */
  #forget(targets: ReadonlySet<string>): void {
    const settled = [...this.#entries.values()].filter(({ row, isUnderWay }) => {
      if (isUnderWay) return false;
      const isSettled = row.sentAt !== null || row.nextTryAt === null;
      return !targets.has(row.target) || (isSettled && !this.#present.has(row.cause.key));
    });
    this.forget(settled.filter(({ row }) => row.cause.nature === 'happening' || !targets.has(row.target)));
  }

  #isStillSo({ cause }: StoredNotification): boolean {
    return cause.nature === 'happening' || this.#present.has(cause.key);
  }

  /** Whether a message to another target about the same cause is being sent. */
  #isUsed({ cause }: StoredNotification): boolean {
    return [...this.#entries.values()].some(({ row, isUnderWay }) => isUnderWay && row.cause.key === cause.key);
  }
}

function nameOf(cause: string, target: string): string {
  return JSON.stringify([cause, target]);
}
