import type { Kysely } from 'kysely';
import { type NotifyCause, type NotifyIssue, notifyEvents } from '../../core/notify/notify-cause.ts';
import { recordIn, textIn, valueFromText } from '../json.ts';
import type { Database } from '../schema.ts';
import { atomically, changedRows, countIn, inParts } from './statements.ts';

export type StoredNotifications = readonly StoredNotification[];

export interface NotificationDraft {
  /** A target by a name that does not change and contains no secret. */
  readonly target: string;
  readonly cause: NotifyCause;
}

/** The causes in one message to a target. */
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
  /** When to try again if the result of this one is never recorded. */
  readonly nextTryAt: number;
}

export interface StoredNotification extends NotificationDraft {
  readonly firstSeenAt: number;
  readonly overAt: number | null;
  /** Null before the first try. */
  readonly message: string | null;
  readonly tries: number;
  readonly firstTryAt: number | null;
  /** Null when it was sent, and when it is not tried any more. */
  readonly nextTryAt: number | null;
  readonly sentAt: number | null;
  readonly error: string | null;
}

/** A row has a dozen parameters at most. */
const rowsAStatement = 200;

/** A row before its first try. */
const untried = { over_at: null, message: null, tries: 0, first_try_at: null, sent_at: null, error: null };

export type Notifications = ReturnType<typeof notificationsTable>;

/**
 * One row for each cause and each target, so that no target receives the same twice. What must hold:
 *
 * - A row is there before anything is sent, and each try is recorded before it begins. After a crash in the middle of
 *   a try it is unknown whether it arrived; the next one carries the same message id.
 * - Of several daemons on one store, one begins a try.
 */
export function notificationsTable(db: Kysely<Database>) {
  const old = (seenBefore: number) => db.selectFrom('notifications').where('seen_at', '<', seenBefore);
  return {
    /**
     * Records that these causes are there at `at`. Earlier records stay, but for two things: a cause that was over is
     * not over any more, and one that recurs and was over for `recurAfterMs` begins again. Gives all of them as they are now.
     */
    see: (
      project: string,
      drafts: readonly NotificationDraft[],
      at: number,
      recurAfterMs: number,
    ): Promise<StoredNotifications> =>
      atomically(db, async (inside) => {
        const seen: StoredNotifications[] = [];
        for (const some of inParts(eachOnce(drafts), rowsAStatement)) {
          await inside
            .insertInto('notifications')
            .values(
              some.map(({ target, cause }) => ({
                project,
                target,
                cause: cause.key,
                nature: cause.nature,
                cause_json: causeText(cause),
                first_seen_at: at,
                seen_at: at,
                next_try_at: at,
                ...untried,
              })),
            )
            .onConflict((conflict) => conflict.columns(['project', 'cause', 'target']).doUpdateSet({ seen_at: at }))
            .execute();
          const causes = [...new Set(some.map(({ cause }) => cause.key))];
          const ofCauses = inside
            .updateTable('notifications')
            .where('project', '=', project)
            .where('cause', 'in', causes);
          await ofCauses
            .set({ ...untried, first_seen_at: at, next_try_at: at })
            .where('nature', '=', 'recurring')
            .where('over_at', '<=', at - recurAfterMs)
            .execute();
          await ofCauses.set({ over_at: null }).where('over_at', 'is not', null).execute();
          const rows = await inside
            .selectFrom('notifications')
            .selectAll()
            .where('project', '=', project)
            .where('cause', 'in', causes)
            .execute();
          const wanted = new Set(some.map(nameOf));
          seen.push(rows.map(notificationFrom).filter((row) => wanted.has(nameOf(row))));
        }
        return seen.flat();
      }),

    /** The causes that are not known to be over and were not sent, or may come again. */
    open: async (project: string): Promise<StoredNotifications> => {
      const rows = await db
        .selectFrom('notifications')
        .selectAll()
        .where('project', '=', project)
        .where('over_at', 'is', null)
        .where((either) =>
          either.or([
            either.and([either('sent_at', 'is', null), either('next_try_at', 'is not', null)]),
            either('nature', '=', 'recurring'),
          ]),
        )
        .orderBy('first_seen_at')
        .orderBy('cause')
        .orderBy('target')
        .execute();
      return rows.map(notificationFrom);
    },

    /** These causes are not there any more, for any target. */
    over: async (project: string, causes: readonly string[], at: number): Promise<void> => {
      for (const some of inParts(causes, rowsAStatement)) {
        await db
          .updateTable('notifications')
          .set({ over_at: at })
          .where('project', '=', project)
          .where('cause', 'in', some)
          .where('over_at', 'is', null)
          .execute();
      }
    },

    /**
     * Begins a try for all of these, or for none and gives false: another daemon began one, or it is not to be sent any
     * more. Not inside a transaction.
     */
    begin: async (
      ofMessage: MessageKey,
      { message, triesBefore, at, nextTryAt }: NotificationTry,
    ): Promise<boolean> => {
      const refused = Symbol('refused');
      const work = db.transaction().execute(async (inside) => {
        for (const { query, size } of unsent(inside, ofMessage)) {
          const begun = query
            .set((eb) => ({
              message,
              tries: triesBefore + 1,
              first_try_at: eb.fn.coalesce('first_try_at', eb.val(at)),
              next_try_at: Math.round(nextTryAt),
            }))
            .where('tries', '=', triesBefore)
            .where('next_try_at', 'is not', null);
          if ((await changedRows(begun)) !== size) throw refused;
        }
        return true;
      });
      return await work.catch((error: unknown) => {
        if (error === refused) return false;
        throw error;
      });
    },

    sent: async (ofMessage: MessageKey, at: number): Promise<void> => {
      for (const { query } of unsent(db, ofMessage)) {
        await query.set({ sent_at: at, next_try_at: null, error: null }).execute();
      }
    },

    /** `nextTryAt` null: it is not tried again. */
    failed: async (
      ofMessage: MessageKey,
      { error, nextTryAt }: { readonly error: string; readonly nextTryAt: number | null },
    ): Promise<void> => {
      const next_try_at = nextTryAt === null ? null : Math.round(nextTryAt);
      for (const { query } of unsent(db, ofMessage)) await query.set({ error, next_try_at }).execute();
    },

    /** Removes at most `limit` that were last seen before this; gives how many. */
    prune: (seenBefore: number, limit: number): Promise<number> =>
      changedRows(
        db
          .deleteFrom('notifications')
          .where((eb) =>
            eb(
              eb.refTuple('project', 'cause', 'target'),
              'in',
              old(seenBefore)
                .select(['project', 'cause', 'target'])
                .orderBy('seen_at')
                .limit(limit)
                .$asTuple('project', 'cause', 'target'),
            ),
          ),
      ),

    countOld: (seenBefore: number): Promise<number> => countIn(old(seenBefore)),
  };
}

/** Updates of the rows of a message that were not sent. */
function unsent(db: Kysely<Database>, { project, target, causes }: MessageKey) {
  return inParts(causes, rowsAStatement).map((some) => ({
    size: some.length,
    query: db
      .updateTable('notifications')
      .where('project', '=', project)
      .where('target', '=', target)
      .where('cause', 'in', some)
      .where('sent_at', 'is', null),
  }));
}

/** PostgreSQL writes no row twice in one statement; and where all write in one order, no deadlock comes about. */
function eachOnce(drafts: readonly NotificationDraft[]): NotificationDraft[] {
  const byName = new Map(drafts.map((draft) => [nameOf(draft), draft]));
  return [...byName.keys()].sort().flatMap((name) => byName.get(name) ?? []);
}

function nameOf({ target, cause }: NotificationDraft): string {
  return JSON.stringify([cause.key, target]);
}

/** A damaged row still counts: its cause is not announced a second time. */
function notificationFrom(row: Database['notifications']): StoredNotification {
  return {
    target: row.target,
    cause: causeFrom(row),
    firstSeenAt: row.first_seen_at,
    overAt: row.over_at,
    message: row.message,
    tries: row.tries,
    firstTryAt: row.first_try_at,
    nextTryAt: row.next_try_at,
    sentAt: row.sent_at,
    error: row.error,
  };
}

/** The cause without key and nature, which have columns of their own. */
function causeText({ key: _key, nature: _nature, ...facts }: NotifyCause): string {
  return JSON.stringify(facts);
}

function causeFrom({ cause: key, nature, cause_json }: Database['notifications']): NotifyCause {
  const found = recordIn(valueFromText(cause_json));
  const actions = Array.isArray(found.actions) ? found.actions : [];
  return {
    key,
    nature,
    event: notifyEvents.find((event) => event === found.event) ?? 'needs_you',
    issue: issueFrom(found.issue),
    runId: textIn(found.runId),
    code: textIn(found.code) ?? 'unknown',
    reason: textIn(found.reason) ?? 'This could not be read.',
    since: typeof found.since === 'number' ? found.since : null,
    actions: actions.filter((line) => typeof line === 'string'),
  };
}

function issueFrom(value: unknown): NotifyIssue | null {
  const { id, identifier, title, url } = recordIn(value);
  if (typeof id !== 'string' || typeof identifier !== 'string') return null;
  return { id, identifier, title: textIn(title), url: textIn(url) };
}
