import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import { BatonError } from '../../core/baton-error.ts';
import type { Engine } from '../engine.ts';
import type { Database } from '../schema.ts';
import { changedOne, lockedRow } from './statements.ts';

export interface Project {
  /** Short and stable; the `project` of every other table. */
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
}

/** The projects whose facts are in this store. */
export function projectsTable(db: Kysely<Database>, engine: Engine) {
  const projects = () => db.selectFrom('projects').select(['id', 'name', 'created_at as createdAt']);
  return {
    /** The project of this name, made if it is new. */
    ensure: async (name: string, at: number): Promise<Project> => {
      // The project usually exists, and then this does not wait for another write.
      const known = await projects().where('name', '=', name).executeTakeFirst();
      if (known !== undefined) return known;
      await db
        .insertInto('projects')
        .values({ id: projectId(name), name, created_at: at })
        .onConflict((conflict) => conflict.column('name').doNothing())
        .execute();
      return projects().where('name', '=', name).executeTakeFirstOrThrow();
    },

    list: (): Promise<readonly Project[]> => projects().orderBy('name').execute(),

    /**
     * Inside a transaction only: waits until no other transaction has this lock, and keeps it until the transaction
     * ends. Later reads see what the others wrote. Rejects for an unknown project.
     */
    lock: async (id: string): Promise<void> => {
      const row = await lockedRow(db, engine.name, db.selectFrom('projects').select('id').where('id', '=', id));
      if (row === undefined) throw new BatonError('store_constraint', `The store has no project ${id}.`);
    },

    /** The lease of the daemon that runs the checks of a project. True when `owner` has it from now on. */
    leaseChecks: (id: string, owner: string, lease: { readonly at: number; readonly leaseMs: number }) => {
      const now = engine.leaseClock(lease.at);
      return changedOne(
        db
          .updateTable('projects')
          .set((eb) => ({ checks_owner: owner, checks_until: eb(now, '+', lease.leaseMs) }))
          .where('id', '=', id)
          .where((eb) =>
            eb.or([eb('checks_owner', 'is', null), eb('checks_owner', '=', owner), eb('checks_until', '<=', now)]),
          ),
      );
    },

    /** False when another daemon has it. */
    releaseChecks: (id: string, owner: string): Promise<boolean> =>
      changedOne(
        db.updateTable('projects').set({ checks_owner: null }).where('id', '=', id).where('checks_owner', '=', owner),
      ),
  };
}

/**
 * The name itself where it is a plain word; otherwise its readable part and a part of its hash, so that no two names
 * share an id. Made from the name alone: every store gives a project the same id.
 */
function projectId(name: string): string {
  if (/^[a-z0-9][a-z0-9-]{0,30}$/.test(name)) return name;
  const readable = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 24);
  return `${readable}_${createHash('sha256').update(name).digest('hex').slice(0, 12)}`;
}
