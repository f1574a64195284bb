import type { Kysely } from 'kysely';
import { firstSchema } from './0001-first-schema/first-schema.ts';
import { durableClaims } from './0002-durable-claims/durable-claims.ts';
import { workspacesOfRuns } from './0003-workspaces-of-runs/workspaces-of-runs.ts';
import { jobs } from './0004-jobs/jobs.ts';
import { questionsAndAccounts } from './0005-questions-and-accounts/questions-and-accounts.ts';
import { orderOfRuns } from './0006-order-of-runs/order-of-runs.ts';
import { notesOfRuns } from './0007-notes-of-runs/notes-of-runs.ts';
import { notifications } from './0008-notifications/notifications.ts';
import { landed } from './0009-landed/landed.ts';
import { answerCodes } from './0010-answer-codes/answer-codes.ts';
import { namesOfRuns } from './0011-names-of-runs/names-of-runs.ts';
import type { ColumnTypes } from './column-types.ts';

/**
 * One step of the schema, forward only. A released one is never changed: stores exist that have run it.
 * Its database is untyped, because the types describe the schema after the last step.
 */
export interface Migration {
  readonly name: string;
  up(db: Kysely<unknown>, types: ColumnTypes): Promise<void>;
}

/** In order; the number of a migration is its place, from 1. */
export const migrations: readonly Migration[] = [
  firstSchema,
  durableClaims,
  workspacesOfRuns,
  jobs,
  questionsAndAccounts,
  orderOfRuns,
  notesOfRuns,
  notifications,
  landed,
  answerCodes,
  namesOfRuns,
];
