import { type Kysely, type NotNull, sql } from 'kysely';
import type { Role } from '../../core/run/role.ts';
import type { Engine } from '../engine.ts';
import type { IssueKey } from '../issue-key.ts';
import type { Database } from '../schema.ts';
import { changedOne, lockedRow, ofIssue } from './statements.ts';

export interface ClaimRequest {
  readonly owner: string;
  /** Where the owner runs, for people. */
  readonly host: string;
  readonly at: number;
  readonly leaseMs: number;
  readonly slotState: string | null;
  /** Absent: a worker's. */
  readonly slotRole?: Role;
  readonly reclaim?: boolean;
}

export interface ClaimHolder {
  readonly owner: string;
  readonly generation: number;
}

export interface Claim extends ClaimHolder, IssueKey {
  /** Null for a claim of a Baton that did not record it yet. */
  readonly host: string | null;
  /** The tracker state whose slot it takes; null when it takes none: it is retrying or held. */
  readonly slotState: string | null;
  /** The role of the run that takes the slot; null when none does. */
  readonly slotRole: string | null;
  readonly claimedAt: number;
  readonly leaseUntil: number;
}

export interface HeldClaim extends Claim {
  /** Its lease is over, by the clock that leases are measured with. */
  readonly isExpired: boolean;
}

const columns = [
  'project',
  'issue_id as issueId',
  'owner',
  'generation',
  'host',
  'slot_state as slotState',
  'slot_role as slotRole',
  'claimed_at as claimedAt',
  'lease_until as leaseUntil',
] as const;

/**
 * Reservations of issues with fencing: the generation of an issue only grows, also over releases and restores. A write
 * about a run shows the generation that the run was started with, and an old one is refused.
 *
 * A lease that is over takes nothing away by itself: from then on others may take the claim, and until one does, its
 * holder still has it.
 *
 * Each change is one statement, so that of many that want the same claim at once exactly one gets it, on both engines.
 */
export function claimsTable(db: Kysely<Database>, engine: Engine) {
  const heldBy = (key: IssueKey, { owner, generation }: ClaimHolder) =>
    db.updateTable('claims').where(ofIssue(key)).where('owner', '=', owner).where('generation', '=', generation);
  return {
    /**
     * Takes a free or expired claim for `owner` and raises its generation; null while another owner holds it. With
     * `reclaim` also one that the owner itself holds, from before a restart.
     */
    take: async (key: IssueKey, request: ClaimRequest): Promise<Claim | null> => {
      const now = engine.leaseClock(request.at);
      const row = await db
        .insertInto('claims')
        .values((eb) => ({
          project: key.project,
          issue_id: key.issueId,
          owner: request.owner,
          generation: 1,
          claimed_at: now,
          lease_until: eb(now, '+', request.leaseMs),
          slot_state: request.slotState,
          slot_role: request.slotState === null ? null : (request.slotRole ?? 'worker'),
          host: request.host,
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
              slot_role: eb.ref('excluded.slot_role'),
              host: eb.ref('excluded.host'),
            }))
            .where((eb) =>
              eb.or([
                eb('claims.owner', 'is', null),
                eb('claims.lease_until', '<=', now),
                ...(request.reclaim === true ? [eb('claims.owner', '=', request.owner)] : []),
              ]),
            ),
        )
        .returning(columns)
        .$narrowType<{ owner: NotNull }>()
        .executeTakeFirst();
      return row ?? null;
    },

    /**
     * Extends every claim that `owner` holds in the project and gives them, the earliest first. A claim that is missing
     * in the answer, or has another generation there, is lost.
     */
    renewAll: async (
      project: string,
      owner: string,
      until: { readonly at: number; readonly leaseMs: number },
    ): Promise<readonly Claim[]> => {
      const now = engine.leaseClock(until.at);
      const rows = await db
        .updateTable('claims')
        .set((eb) => ({ lease_until: eb(now, '+', until.leaseMs) }))
        .where('project', '=', project)
        .where('owner', '=', owner)
        .returning(columns)
        .$narrowType<{ owner: NotNull }>()
        .execute();
      return rows.toSorted(earliestFirst);
    },

    /**
     * Inside a transaction only: true while owner and generation hold, and then the claim cannot be taken, changed or
     * released before the transaction ends.
     */
    verify: async (key: IssueKey, { owner, generation }: ClaimHolder): Promise<boolean> => {
      const wanted = db
        .selectFrom('claims')
        .select('generation')
        .where(ofIssue(key))
        .where('owner', '=', owner)
        .where('generation', '=', generation);
      return (await lockedRow(db, engine.name, wanted)) !== undefined;
    },

    /** The slot that the claim takes from now on, null for none; false when owner and generation do not hold. */
    setSlot: (
      key: IssueKey,
      holder: ClaimHolder,
      slotState: string | null,
      slotRole: Role = 'worker',
    ): Promise<boolean> =>
      changedOne(heldBy(key, holder).set({ slot_state: slotState, slot_role: slotState === null ? null : slotRole })),

    /** Gives it up, its slot included, while owner and generation still hold; false when they do not. */
    release: (key: IssueKey, holder: ClaimHolder): Promise<boolean> =>
      changedOne(heldBy(key, holder).set({ owner: null, slot_state: null, slot_role: null, host: null })),

    /** All that are held, expired ones included, the earliest first. */
    held: async (project: string, at: number): Promise<readonly HeldClaim[]> => {
      const isOver = sql<number>`case when lease_until <= ${engine.leaseClock(at)} then 1 else 0 end`;
      const rows = await db
        .selectFrom('claims')
        .select(columns)
        .select(isOver.as('isOver'))
        .where('project', '=', project)
        .where('owner', 'is not', null)
        .orderBy('claimed_at')
        .orderBy('issue_id')
        .$narrowType<{ owner: NotNull }>()
        .execute();
      return rows.map(({ isOver: over, ...claim }) => ({ ...claim, isExpired: over === 1 }));
    },

    read: async (key: IssueKey): Promise<Claim | null> => {
      const row = await db
        .selectFrom('claims')
        .select(columns)
        .where(ofIssue(key))
        .where('owner', 'is not', null)
        .$narrowType<{ owner: NotNull }>()
        .executeTakeFirst();
      return row ?? null;
    },

    /** The generation of an issue, held or not; 0 when it was never claimed. */
    generation: async (key: IssueKey): Promise<number> => {
      const row = await db.selectFrom('claims').select('generation').where(ofIssue(key)).executeTakeFirst();
      return row?.generation ?? 0;
    },
  };
}

function earliestFirst(one: Claim, other: Claim): number {
  return one.claimedAt - other.claimedAt || (one.issueId < other.issueId ? -1 : 1);
}
