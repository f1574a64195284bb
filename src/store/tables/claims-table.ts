import type { Kysely } from 'kysely';
import type { Claim, Claims } from '../claims.ts';
import type { Engine } from '../engine.ts';
import type { Database } from '../schema.ts';

/** Each change is one statement, so that of many who want the same claim at once exactly one gets it, on both engines. */
export function claimsTable(db: Kysely<Database>, leaseClock: Engine['leaseClock']): Claims {
  return {
    take: async (key, claim) => {
      const now = leaseClock(claim.at);
      const row = await db
        .insertInto('claims')
        .values((eb) => ({
          project: key.project,
          issue_id: key.issueId,
          owner: claim.owner,
          generation: 1,
          claimed_at: now,
          lease_until: eb(now, '+', claim.leaseMs),
        }))
        .onConflict((conflict) =>
          conflict
            .columns(['project', 'issue_id'])
            .doUpdateSet((eb) => ({
              owner: eb.ref('excluded.owner'),
              generation: eb('claims.generation', '+', 1),
              claimed_at: eb.ref('excluded.claimed_at'),
              lease_until: eb.ref('excluded.lease_until'),
            }))
            .where((eb) => eb.or([eb('claims.owner', 'is', null), eb('claims.lease_until', '<=', now)])),
        )
        .returningAll()
        .executeTakeFirst();
      return row === undefined ? null : claimFrom(row);
    },

    renew: async (key, holder, until) => {
      const now = leaseClock(until.at);
      const done = await db
        .updateTable('claims')
        .set((eb) => ({ lease_until: eb(now, '+', until.leaseMs) }))
        .where('project', '=', key.project)
        .where('issue_id', '=', key.issueId)
        .where('owner', '=', holder.owner)
        .where('generation', '=', holder.generation)
        .executeTakeFirst();
      return done.numUpdatedRows === 1n;
    },

    release: async (key, holder) => {
      const done = await db
        .updateTable('claims')
        .set({ owner: null })
        .where('project', '=', key.project)
        .where('issue_id', '=', key.issueId)
        .where('owner', '=', holder.owner)
        .where('generation', '=', holder.generation)
        .executeTakeFirst();
      return done.numUpdatedRows === 1n;
    },

    held: async (project) => {
      const rows = await db
        .selectFrom('claims')
        .selectAll()
        .where('project', '=', project)
        .where('owner', 'is not', null)
        .orderBy('claimed_at')
        .orderBy('issue_id')
        .execute();
      return rows.flatMap((row) => claimFrom(row) ?? []);
    },

    read: async (key) => {
      const row = await db
        .selectFrom('claims')
        .selectAll()
        .where('project', '=', key.project)
        .where('issue_id', '=', key.issueId)
        .executeTakeFirst();
      return row === undefined ? null : claimFrom(row);
    },
  };
}

function claimFrom(row: Database['claims']): Claim | null {
  if (row.owner === null) return null;
  return {
    project: row.project,
    issueId: row.issue_id,
    owner: row.owner,
    generation: row.generation,
    claimedAt: row.claimed_at,
    leaseUntil: row.lease_until,
  };
}
