import type { Chance } from '../../clock/chance.ts';
import type { Clock, Timer } from '../../clock/clock.ts';
import { isQuiet, quietChangesAt } from '../../core/cadence/quiet-hours.ts';
import type { Logger } from '../../core/logger.ts';
import {
  causesIn,
  type NotifyCause,
  type NotifyFacts,
  type ProblemSightings,
  problemSightings,
  steadyMs,
} from '../../core/notify/notify-cause.ts';
import type { Settings } from '../../core/settings.ts';
import { createRedactor, type Redactor, secretsIn } from '../../core/text/redact.ts';
import type { HttpClient } from '../../http/http.ts';
import type { Notifications } from '../../store/tables/notifications.ts';
import { type Entry, NotificationRecords } from './notification-records.ts';
import { isFor, targetId, targetsIn } from './notify-target.ts';
import type { Channels } from './send-message.ts';
import { storePauseMs, TargetSender } from './target-sender.ts';

/** The longest wait before the time is checked again, because the clock may be set meanwhile. */
const longestSleepMs = 60_000;

export interface NotifierOptions extends Channels {
  readonly store: { readonly notifications: Notifications };
  readonly project: string;
  /** Distinguishes daemons on one store, and stays the same after a restart. */
  readonly daemon: string;
  readonly clock: Clock;
  readonly chance: Chance;
  /** The current settings of the workflow file. */
  readonly settings: () => Settings;
  readonly logger: Logger;
  /** The address of the dashboard; null when there is none. */
  readonly dashboardUrl?: () => string | null;
}

export interface Notifier {
  /** Takes the current facts; call it whenever they change. It is cheap and never throws. */
  update(facts: NotifyFacts): void;
  /** Ends the messages in progress. Nothing is lost: the next daemon continues. */
  close(): Promise<void>;
}

/**
 * Sends notifications to people. What must hold:
 *
 * - Each target gets each cause that it wants once, also over restarts, and from one daemon of many: the store records it
 *   before anything is sent. A try without a recorded end is made again, with the same id.
 * - A cause that has ended is not sent any more; a happening is sent however late.
 * - In quiet hours nothing is sent. A target that waits or does not answer does not delay the others.
 * - No secret of the settings leaves in a message. Nothing here can delay or break the caller of `update`.
 */
export function createNotifier(options: NotifierOptions): Notifier {
  const { clock, project, daemon, settings } = options;
  const logger = options.logger.child({ part: 'notify' });
  const records = new NotificationRecords({ notifications: options.store.notifications, project, daemon });
  const ways: Channels = { ...options, http: clientsByAddress(options.http) };
  const redactor = redactorOf(settings);
  const senders = new Map<string, TargetSender>();
  const ending = new AbortController();
  let latest: NotifyFacts | null = null;
  let sightings: ProblemSightings = new Map();
  /** Happenings that are not in the store yet; the facts may lose them before the store works again. */
  let unwritten: readonly NotifyCause[] = [];
  let round: Promise<void> | null = null;
  let isAskedAgain = false;
  let isStoreFailing = false;
  /** After a failure the store is not asked before this, however often `update` is called; on the monotonic clock. */
  let pausedUntil = 0;
  let timer: Timer | null = null;

  function update(facts: NotifyFacts): void {
    latest = facts;
    wake();
  }

  /** Runs one round at a time; changes during a round are in the next one. */
  function wake(): void {
    if (ending.signal.aborted || clock.monotonic() < pausedUntil) return;
    if (round !== null) {
      isAskedAgain = true;
      return;
    }
    timer?.cancel();
    round = work()
      .catch((error: unknown) => {
        // Logged once, until it works again.
        if (!isStoreFailing) logger.warn('notifications_waiting', { error });
        isStoreFailing = true;
        pausedUntil = clock.monotonic() + storePauseMs;
        return storePauseMs;
      })
      .then((sleepMs) => {
        round = null;
        const isAsked = isAskedAgain && clock.monotonic() >= pausedUntil;
        if (isAsked) wake();
        else if (sleepMs !== null && !ending.signal.aborted) timer = clock.schedule(sleepMs, wakeAfterPause);
        isAskedAgain = false;
      });
  }

  /** A timer may fire slightly early. */
  function wakeAfterPause(): void {
    pausedUntil = 0;
    wake();
  }

  /** Returns how long there is nothing to do; null: until the next `update`. */
  async function work(): Promise<number | null> {
    const { notify } = settings();
    const targets = targetsIn(settings());
    if (latest === null || targets.length === 0) return null;
    const at = clock.now();
    const facts = latest;
    sightings = problemSightings(sightings, facts, at);
    const found = causesIn(facts, { at, problems: sightings, daemon }).map((cause) => ({
      ...redactor().redact(cause),
      key: cause.key,
    }));
    const causes = [...new Map([...unwritten, ...found].map((cause) => [cause.key, cause])).values()];
    unwritten = causes.filter(({ nature }) => nature === 'happening');
    const listeners = targets.map((target) => ({
      id: targetId(target),
      wants: (cause: NotifyCause) => isFor(target, cause),
    }));
    await records.bringUpToDate(causes, listeners, { at, isComplete: facts.isComplete });
    unwritten = [];
    if (isStoreFailing) logger.info('notifications_resumed');
    isStoreFailing = false;
    const wakeAt = [...sightings.values()].map((since) => since + steadyMs).filter((time) => time > at);
    const quiet = notify.quietHours !== null && isQuiet(at, notify.quietHours);
    if (quiet && notify.quietHours !== null) wakeAt.push(quietChangesAt(at, notify.quietHours));
    const mayGo = ({ row }: Entry): boolean => !quiet || (notify.evenInQuietHours && row.cause.event === 'unhealthy');
    for (const target of targets) {
      const next = senderOf(targetId(target)).send(target, mayGo);
      if (next !== null) wakeAt.push(next);
    }
    return wakeAt.length === 0 ? null : Math.min(longestSleepMs, Math.max(0, Math.min(...wakeAt) - at));
  }

  function senderOf(id: string): TargetSender {
    const known =
      senders.get(id) ?? new TargetSender({ ...options, ways, records, id, logger, redactor, ending, wake });
    senders.set(id, known);
    return known;
  }

  return {
    update,
    close: async () => {
      ending.abort(new Error('notifications end'));
      timer?.cancel();
      await round;
      await Promise.all([...senders.values()].map((sender) => sender.closed()));
    },
  };
}

/** Removes every secret of the current settings; created again only when they change. */
function redactorOf(settings: () => Settings): () => Redactor {
  let of: Settings | null = null;
  let made = createRedactor([]);
  return () => {
    const now = settings();
    if (now !== of) made = createRedactor(secretsIn(now));
    of = now;
    return made;
  };
}

/** Keeps one client for each address, because each read of the settings creates new secrets. */
function clientsByAddress(http: Channels['http']): Channels['http'] {
  const clients = new Map<string, HttpClient>();
  return (url, allowInsecure) => {
    const key = `${allowInsecure} ${url.reveal()}`;
    const known = clients.get(key) ?? http(url, allowInsecure);
    clients.set(key, known);
    return known;
  };
}
