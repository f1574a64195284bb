import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { StoreEngine } from '../conformance/store.ts';
import { writeMigratedFile } from './migrated-file.ts';
import { postgresServer } from './postgres-server.ts';

/** A folder for one test. */
export function scratchFolder(): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'baton-store-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Both engines, each with a way to make a place for a new store. */
export const engines: readonly StoreEngine[] = [sqliteEngine(), await postgresEngine()];

function sqliteEngine(): StoreEngine {
  return {
    name: 'sqlite',
    missing: null,
    place: async (kind = 'migrated') => {
      const { folder, remove } = scratchFolder();
      const file = path.join(folder, 'state', 'baton.db');
      if (kind === 'migrated') await writeMigratedFile(file);
      return {
        url: `sqlite:${file}`,
        query: async (statement) => {
          const database = new DatabaseSync(file, { timeout: 5000 });
          try {
            return database.prepare(statement).all();
          } finally {
            database.close();
          }
        },
        remove: async () => remove(),
      };
    },
  };
}

async function postgresEngine(): Promise<StoreEngine> {
  const server = await postgresServer();
  if (server.kind === 'missing') {
    const place = () => Promise.reject(new Error(server.reason));
    return { name: 'postgres', missing: server.reason, place };
  }
  const there = (made: { readonly url: string; remove(): Promise<void> }) => ({
    ...made,
    query: async (statement: string) => {
      const client = new pg.Client({ connectionString: made.url });
      await client.connect();
      try {
        return (await client.query(statement)).rows as Record<string, unknown>[];
      } finally {
        await client.end();
      }
    },
  });
  return {
    name: 'postgres',
    missing: null,
    place: async (kind = 'migrated') =>
      there(kind === 'migrated' ? await server.freshDatabase() : await server.emptyDatabase()),
  };
}
