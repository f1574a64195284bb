import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import { BatonError } from '../../core/baton-error.ts';
import type { Engine } from '../engine.ts';
import type { Database } from '../schema.ts';
import { lockedRow } from './locked-row.ts';
import type { Project, Projects } from './projects.ts';

export function projectsTable(db: Kysely<Database>, engine: Engine['name']): Projects {
  return {
    ensure: async (name, at) => {
      // Mostly it is there; then nobody has to wait for somebody else's write.
      const known = await db.selectFrom('projects').selectAll().where('name', '=', name).executeTakeFirst();
      if (known !== undefined) return projectFrom(known);
      await db
        .insertInto('projects')
        .values({ id: projectId(name), name, created_at: at })
        .onConflict((conflict) => conflict.column('name').doNothing())
        .execute();
      const row = await db.selectFrom('projects').selectAll().where('name', '=', name).executeTakeFirstOrThrow();
      return projectFrom(row);
    },
    list: async () => (await db.selectFrom('projects').selectAll().orderBy('name').execute()).map(projectFrom),
    lock: async (id) => {
      const row = await lockedRow(db, engine, db.selectFrom('projects').select('id').where('id', '=', id));
      if (row === undefined) throw new BatonError('store_constraint', `there is no project ${id} to lock`);
    },
  };
}

/**
 * The name itself where it is a plain word; otherwise what can be read of it and a part of its hash, so that two names
 * never meet. Made from the name alone: every store gives a project the same id.
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

function projectFrom(row: Database['projects']): Project {
  return { id: row.id, name: row.name, createdAt: row.created_at };
}
