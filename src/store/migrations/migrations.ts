import { firstSchema } from './0001-schema.ts';
import type { Migration } from './migration.ts';

/** In order; the number of a migration is its place, from 1. */
export const migrations: readonly Migration[] = [firstSchema];
