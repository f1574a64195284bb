import type { Kysely } from 'kysely';
import { atomically } from '../atomically.ts';
import type { Database } from '../schema.ts';
import { causeText, notificationFrom } from './notification-rows.ts';
import type { MessageKey, NotificationDraft, Notifications, StoredNotifications } from './notifications.ts';

/** Rows in one statement; each has a dozen parameters at most. */
const rowsAStatement = 200;

/** What a row is before the first try. */
const untried = { over_at: null, message: null, tries: 0, first_try_at: null, sent_at: null, error: null };

export function notificationsTable(db: Kysely<Database>): Notifications {
  return {
    see: (project, drafts, at, wellMs) =>
      atomically(db, async (inside) => {
        const seen: StoredNotifications[] = [];
        for (const some of inParts(eachOnce(drafts))) {
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
            .where('over_at', '<=', at - wellMs)
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

    open: async (project) => {
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

    over: async (project, causes, at) => {
      for (const some of inParts(causes)) {
        await db
          .updateTable('notifications')
          .set({ over_at: at })
          .where('project', '=', project)
          .where('cause', 'in', some)
          .where('over_at', 'is', null)
          .execute();
      }
    },

    begin: async (key, { message, triesBefore, at, nextTryAt }) => {
      const refused = Symbol('refused');
      const work = db.transaction().execute(async (inside) => {
        for (const update of unsent(inside, key)) {
          const begun = await update.query
            .set((eb) => ({
              message,
              tries: triesBefore + 1,
              first_try_at: eb.fn.coalesce('first_try_at', eb.val(at)),
              next_try_at: Math.round(nextTryAt),
            }))
            .where('tries', '=', triesBefore)
            .where('next_try_at', 'is not', null)
            .executeTakeFirst();
          if (Number(begun.numUpdatedRows) !== update.size) throw refused;
        }
        return true;
      });
      return await work.catch((error: unknown) => {
        if (error === refused) return false;
        throw error;
      });
    },

    sent: async (key, at) => {
      for (const { query } of unsent(db, key)) {
        await query.set({ sent_at: at, next_try_at: null, error: null }).execute();
      }
    },

    failed: async (key, { error, nextTryAt }) => {
      const next_try_at = nextTryAt === null ? null : Math.round(nextTryAt);
      for (const { query } of unsent(db, key)) await query.set({ error, next_try_at }).execute();
    },

    prune: async (seenBefore, limit) => {
      const done = await db
        .deleteFrom('notifications')
        .where((eb) =>
          eb(
            eb.refTuple('project', 'cause', 'target'),
            'in',
            eb
              .selectFrom('notifications')
              .select(['project', 'cause', 'target'])
              .where('seen_at', '<', seenBefore)
              .orderBy('seen_at')
              .limit(limit)
              .$asTuple('project', 'cause', 'target'),
          ),
        )
        .executeTakeFirst();
      return Number(done.numDeletedRows);
    },
  };
}

/** Updates of the rows of a message that were not sent. */
function unsent(db: Kysely<Database>, { project, target, causes }: MessageKey) {
  return inParts(causes).map((some) => ({
    size: some.length,
    query: db
      .updateTable('notifications')
      .where('project', '=', project)
      .where('target', '=', target)
      .where('cause', 'in', some)
      .where('sent_at', 'is', null),
  }));
}

/** PostgreSQL writes no row twice in one statement; and where all write in one order, nobody waits for ever. */
function eachOnce(drafts: readonly NotificationDraft[]): NotificationDraft[] {
  const byName = new Map(drafts.map((draft) => [nameOf(draft), draft]));
  return [...byName.keys()].sort().flatMap((name) => byName.get(name) ?? []);
}

function nameOf({ target, cause }: NotificationDraft): string {
  return JSON.stringify([cause.key, target]);
}

function inParts<T>(all: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (let from = 0; from < all.length; from += rowsAStatement) parts.push(all.slice(from, from + rowsAStatement));
  return parts;
}
