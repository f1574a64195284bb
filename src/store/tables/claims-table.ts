import { type Kysely, sql } from 'kysely';
import type { Engine } from '../engine.ts';
import type { IssueKey } from '../issue-key.ts';
import type { Database } from '../schema.ts';
import type { Claim, ClaimHolder, Claims } from './claims.ts';
import { lockedRow } from './locked-row.ts';

/** Each change is one statement, so that of many who want the same claim at once exactly one gets it, on both engines. */
export function claimsTable(db: Kysely<Database>, engine: Engine): Claims {
  const ofIssue = (key: IssueKey) =>
    db.selectFrom('claims').where('project', '=', key.project).where('issue_id', '=', key.issueId);
  const updateHeldBy = (key: IssueKey, holder: ClaimHolder) =>
    db
      .updateTable('claims')
      .where('project', '=', key.project)
      .where('issue_id', '=', key.issueId)
      .where('owner', '=', holder.owner)
      .where('generation', '=', holder.generation);
  return {
    take: async (key, wish) => {
      const now = engine.leaseClock(wish.at);
      const row = await db
        .insertInto('claims')
        .values((eb) => ({
          project: key.project,
          issue_id: key.issueId,
          owner: wish.owner,
          generation: 1,
          claimed_at: now,
          lease_until: eb(now, '+', wish.leaseMs),
          slot_state: wish.slotState,
          host: wish.host,
        }))
        .onConflict((conflict) =>
          conflict
            .columns(['project', 'issue_id'])
            .doUpdateSet((eb) => ({
              owner: eb.ref('excluded.owner'),
              generation: eb('claims.generation', '+', 1),
              claimed_at: eb.ref('excluded.claimed_at'),
              lease_until: eb.ref('excluded.lease_until'),
              slot_state: eb.ref('excluded.slot_state'),
              host: eb.ref('excluded.host'),
            }))
            .where((eb) =>
              eb.or([
                eb('claims.owner', 'is', null),
                eb('claims.lease_until', '<=', now),
                ...(wish.reclaim === true ? [eb('claims.owner', '=', wish.owner)] : []),
              ]),
            ),
        )
        .returningAll()
        .executeTakeFirst();
      return row === undefined ? null : claimFrom(row);
    },

    renewAll: async (project, owner, until) => {
      const now = engine.leaseClock(until.at);
      const rows = await db
        .updateTable('claims')
        .set((eb) => ({ lease_until: eb(now, '+', until.leaseMs) }))
        .where('project', '=', project)
        .where('owner', '=', owner)
        .returningAll()
        .execute();
      return rows.flatMap((row) => claimFrom(row) ?? []).toSorted(earliestFirst);
    },

    verify: async (key, holder) => {
      const row = await lockedRow(
        db,
        engine.name,
        ofIssue(key).select('generation').where('owner', '=', holder.owner).where('generation', '=', holder.generation),
      );
      return row !== undefined;
    },

    setSlot: async (key, holder, slotState) => {
      const done = await updateHeldBy(key, holder).set({ slot_state: slotState }).executeTakeFirst();
      return done.numUpdatedRows === 1n;
    },

    release: async (key, holder) => {
      const done = await updateHeldBy(key, holder)
        .set({ owner: null, slot_state: null, host: null })
        .executeTakeFirst();
      return done.numUpdatedRows === 1n;
    },

    held: async (project, at) => {
      const isOver = sql<number>`case when lease_until <= ${engine.leaseClock(at)} then 1 else 0 end`;
      const rows = await db
        .selectFrom('claims')
        .selectAll()
        .select(isOver.as('is_over'))
        .where('project', '=', project)
        .where('owner', 'is not', null)
        .orderBy('claimed_at')
        .orderBy('issue_id')
        .execute();
      return rows.flatMap(({ is_over, ...row }) => {
        const claim = claimFrom(row);
        return claim === null ? [] : { ...claim, isExpired: is_over === 1 };
      });
    },

    read: async (key) => {
      const row = await ofIssue(key).selectAll().executeTakeFirst();
      return row === undefined ? null : claimFrom(row);
    },

    generation: async (key) => (await ofIssue(key).select('generation').executeTakeFirst())?.generation ?? 0,
  };
}

function earliestFirst(one: Claim, other: Claim): number {
  return one.claimedAt - other.claimedAt || (one.issueId < other.issueId ? -1 : 1);
}

function claimFrom(row: Database['claims']): Claim | null {
  if (row.owner === null) return null;
  return {
    project: row.project,
    issueId: row.issue_id,
    owner: row.owner,
    generation: row.generation,
    host: row.host,
    slotState: row.slot_state,
    claimedAt: row.claimed_at,
    leaseUntil: row.lease_until,
  };
}
