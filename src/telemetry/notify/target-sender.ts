import type { Chance } from '../../clock/chance.ts';
import { type Clock, sleep } from '../../clock/clock.ts';
import { type BatonError, toBatonError } from '../../core/baton-error.ts';
import type { Logger } from '../../core/logger.ts';
import { nothingSent, planBurst, type SentLately, withSent } from '../../core/notify/notify-burst.ts';
import { failureDelayMs } from '../../core/run/backoff.ts';
import type { NotifyTarget } from '../../core/settings.ts';
import type { Redactor } from '../../core/text/redact.ts';
import type { Notifications } from '../../store/tables/notifications.ts';
import type { Entry, NotificationRecords } from './notification-records.ts';
import type { NotifyMessage } from './notify-payload.ts';
import { targetLabel } from './notify-target.ts';
import { type Channels, sendMessage } from './send-message.ts';

const hourMs = 3_600_000;
/** Wait before the store is asked again after a failure. */
export const storePauseMs = 10_000;
/** How long a message is tried after its first try. */
const keepTryingMs = 24 * hourMs;
/** Longer than any try takes: after a try without a recorded end the next one waits at least this long. */
const tryTakesMs = 90_000;

export interface SenderOptions {
  readonly id: string;
  readonly project: string;
  readonly store: { readonly notifications: Notifications };
  readonly records: NotificationRecords;
  readonly ways: Channels;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly redactor: () => Redactor;
  readonly logger: Logger;
  readonly ending: AbortController;
  readonly dashboardUrl?: () => string | null;
  /** Called after a message, because there may be more to do. */
  readonly wake: () => void;
}

type Entries = readonly [Entry, ...Entry[]];

interface Choice {
  /** Null: nothing to send now. */
  readonly next: Entries | null;
  /** When the burst ends that messages wait for, wall time. */
  readonly until: number | null;
  /** The plan that sends it; null for a repeated try. */
  readonly plan: 'each' | 'together' | null;
}

/** Sends messages to one target, one after the other, and records the result of each. */
export class TargetSender {
  readonly #options: SenderOptions;
  #sent: SentLately = nothingSent;
  #work: Promise<void> | null = null;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Starts the next message if one is due. Returns when to call again; null: when something changes. */
  send(target: NotifyTarget, mayGo: (entry: Entry) => boolean): number | null {
    const { records, clock, id, wake, ending } = this.#options;
    if (this.#work !== null || ending.signal.aborted) return null;
    const waiting = records.unsent(id).filter((entry) => target.events.includes(entry.row.cause.event) && mayGo(entry));
    const now = clock.now();
    const due = waiting.filter(({ row }) => (row.nextTryAt ?? 0) <= now);
    const { next, until, plan } = this.#choose(due, target);
    if (next === null) {
      const later = waiting.map(({ row }) => row.nextTryAt ?? 0).filter((at) => at > now);
      return [...later, ...(until === null ? [] : [until])].reduce<number | null>(earlier, null);
    }
    for (const entry of next) entry.isUnderWay = true;
    if (plan !== null) this.#sent = withSent(this.#sent, plan, clock.monotonic());
    this.#work = this.#deliver(target, next).finally(() => {
      for (const entry of next) entry.isUnderWay = false;
      this.#work = null;
      wake();
    });
    return null;
  }

  async closed(): Promise<void> {
    await this.#work;
  }

  /** Repeated tries come first and unchanged; new messages follow one by one, or all at once. */
  #choose(due: readonly Entry[], { kind }: NotifyTarget): Choice {
    const { clock } = this.#options;
    const [begun] = due.filter(({ row }) => row.message !== null);
    if (begun !== undefined) {
      const { message, tries } = begun.row;
      const others = due.filter(({ row }) => row.message === message && row.tries === tries && row !== begun.row);
      return { next: [begun, ...others], until: null, plan: null };
    }
    const [first, ...others] = due;
    if (first === undefined) return { next: null, until: null, plan: null };
    if (kind === 'tracker') return { next: [first], until: null, plan: null };
    const now = clock.monotonic();
    const plan = planBurst(due.length, this.#sent, now);
    if (plan.send === 'nothing') return { next: null, until: clock.now() + (plan.until - now), plan: null };
    return { next: plan.send === 'each' ? [first] : [first, ...others], until: null, plan: plan.send };
  }

  /** One try from its beginning in the store to its outcome there. Never rejects. */
  async #deliver(target: NotifyTarget, entries: Entries): Promise<void> {
    const { store, records, clock, chance, id, ways, ending, logger } = this.#options;
    const { row } = entries[0];
    const at = clock.now();
    const message = row.message ?? chance.id();
    const key = records.messageKey(id, entries);
    const nextTryAt = at + Math.max(tryTakesMs, this.#delayMs(row.tries + 1));
    try {
      if (!(await store.notifications.begin(key, { message, triesBefore: row.tries, at, nextTryAt }))) {
        return records.forget(entries);
      }
    } catch (error) {
      logger.warn('notification_intent_write_failed', { error });
      return putOff(entries, clock.now() + this.#delayMs(row.tries + 1));
    }
    const begun = { message, tries: row.tries + 1, firstTryAt: row.firstTryAt ?? at, nextTryAt };
    for (const entry of entries) entry.row = { ...entry.row, ...begun };
    try {
      const isRepeated = row.tries > 0;
      await sendMessage(target, { ...this.#message(message, entries), isRepeated }, ways, ending.signal);
    } catch (error) {
      // During a shutdown it is unknown whether the message arrived; the next daemon tries again.
      if (!ending.signal.aborted) await this.#failed(target, entries, toBatonError(error, 'notification_failed'));
      return;
    }
    await this.#arrived(target, entries);
  }

  #message(id: string, entries: Entries): NotifyMessage {
    const { project, redactor, dashboardUrl, records } = this.#options;
    const clean = (entry: Entry) => redactor().redact(records.factsOf(entry));
    const [first, ...others] = entries;
    return { id, project, causes: [clean(first), ...others.map(clean)], dashboardUrl: dashboardUrl?.() ?? null };
  }

  async #arrived(target: NotifyTarget, entries: Entries): Promise<void> {
    const { store, records, clock, id, logger } = this.#options;
    const at = clock.now();
    for (const entry of entries) entry.row = { ...entry.row, sentAt: at, nextTryAt: null, error: null };
    const key = records.messageKey(id, entries);
    // Until this is recorded, the message counts as in progress here and is not sent again. If the daemon ends before that, the
    // next one cannot know, and sends it again with the same id.
    await untilWritten(() => store.notifications.sent(key, at), this.#options);
    logger.info('notification_sent', { target: targetLabel(target), ...this.#named(entries) });
  }

  async #failed(target: NotifyTarget, entries: Entries, thrown: BatonError): Promise<void> {
    const { store, records, id, logger, redactor } = this.#options;
    const error = redactor().redact(thrown);
    const nextTryAt = this.#nextTry(target, entries[0], thrown);
    for (const entry of entries) entry.row = { ...entry.row, nextTryAt, error: error.message };
    const about = { target: targetLabel(target), error, next_try_at: nextTryAt, ...this.#named(entries) };
    if (nextTryAt === null) logger.warn('notification_given_up', about);
    else if (entries[0].row.tries === 1) logger.warn('notification_failed', about);
    else logger.debug('notification_failed', about);
    try {
      await store.notifications.failed(records.messageKey(id, entries), { error: error.message, nextTryAt });
    } catch (failure) {
      // The record from the start of the try stays valid: the message is tried again at the time it names.
      logger.warn('notification_failure_write_failed', { error: failure });
    }
  }

  /** Null when another try makes no sense, or it was tried for long enough. */
  #nextTry(target: NotifyTarget, { row }: Entry, error: BatonError): number | null {
    if (!error.retryable) return null;
    const now = this.#options.clock.now();
    const opensAt = this.#opensAt(target, error);
    const at = Math.max(now + this.#delayMs(row.tries), opensAt);
    return at - (row.firstTryAt ?? now) > keepTryingMs ? null : at;
  }

  /** When the receiver accepts requests again, by its own answer or by the budget; in the past when it accepts them now. */
  #opensAt(target: NotifyTarget, { details }: BatonError): number {
    if (typeof details.until === 'number') return details.until;
    if (target.kind === 'command' || target.kind === 'tracker') return 0;
    const { step, until } = this.#options.ways.http(target.url, target.allowInsecure).pressure();
    return step === 'closed' ? (until ?? 0) : 0;
  }

  #delayMs(tries: number): number {
    return failureDelayMs(tries, hourMs, this.#options.chance.next());
  }

  #named([{ row }, ...others]: Entries): Record<string, unknown> {
    const { cause, message, tries } = row;
    const issue = cause.issue === null ? {} : { issue_id: cause.issue.id, issue_identifier: cause.issue.identifier };
    const several = others.length === 0 ? { event: cause.event, ...issue } : { causes: others.length + 1 };
    return { notification_id: message, tries, ...several };
  }
}

/** Tries to write until the store accepts it, because nothing else can be sent without the store. Ends with the notifier. */
async function untilWritten(write: () => Promise<void>, { clock, logger, ending }: SenderOptions): Promise<void> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await write();
    } catch (error) {
      if (failures === 0) logger.warn('notification_write_failed', { error });
    }
    await sleep(clock, storePauseMs, ending.signal).catch(() => {});
    if (ending.signal.aborted) return;
  }
}

function putOff(entries: readonly Entry[], nextTryAt: number): void {
  for (const entry of entries) entry.row = { ...entry.row, nextTryAt };
}

function earlier(one: number | null, other: number): number {
  return one === null ? other : Math.min(one, other);
}
