import type { Kysely } from 'kysely';
import type { PromptFacts, PromptMerge, PromptResult, PromptRun } from '../../../core/prompt/prompt-metrics.ts';
import type { Database } from '../../schema.ts';

/** What the metrics of prompts need: of runs in the store, of runs that were removed, and what became of their results. */
export function promptRunsTable(db: Kysely<Database>) {
  return {
    /** Of runs that started at this time or later. */
    facts: async (project: string, since: number): Promise<PromptFacts> => ({
      runs: await runsSince(db, project, since),
      results: [...(await changes(db, project, since)), ...(await artifacts(db, project, since))],
      merges: await merges(db, project, since),
    }),
  };
}

const keptColumns = [
  ...(['run_id', 'project', 'issue_id', 'version', 'source', 'role', 'agent', 'outcome'] as const),
  ...(['started_at', 'ended_at', 'tokens', 'cost_micro_usd'] as const),
];

/** Copies what outlives these runs; repeating it changes nothing. */
export async function keepForPrompts(db: Kysely<Database>, runIds: readonly string[]): Promise<void> {
  await db
    .insertInto('prompt_runs')
    .columns(keptColumns)
    .expression((eb) =>
      eb
        .selectFrom('runs')
        .select(['run_id', 'project', 'issue_id', 'prompt_version', 'prompt_source', 'role', 'agent', 'outcome'])
        .select(['started_at', 'ended_at', 'total_tokens', 'cost_micro_usd'])
        .where('run_id', 'in', [...runIds])
        .where('prompt_version', 'is not', null),
    )
    .onConflict((conflict) => conflict.column('run_id').doNothing())
    .execute();
}

async function runsSince(db: Kysely<Database>, project: string, since: number): Promise<readonly PromptRun[]> {
  const live = await db
    .selectFrom('runs')
    .select(['run_id as runId', 'issue_id as issueId', 'prompt_version as version', 'prompt_source as source', 'role'])
    .select(['agent', 'outcome', 'started_at as startedAt', 'ended_at as endedAt', 'total_tokens as tokens'])
    .select('cost_micro_usd as costMicroUsd')
    .where('project', '=', project)
    .where('started_at', '>=', since)
    .where('prompt_version', 'is not', null)
    .execute();
  const past = await db
    .selectFrom('prompt_runs')
    .select(['run_id as runId', 'issue_id as issueId', 'version', 'source', 'role', 'agent', 'outcome', 'tokens'])
    .select(['started_at as startedAt', 'ended_at as endedAt', 'cost_micro_usd as costMicroUsd'])
    .where('project', '=', project)
    .where('started_at', '>=', since)
    .execute();
  return [...live.map((run) => ({ ...run, version: run.version ?? '', source: run.source ?? '' })), ...past];
}

/** Each head commit that came into review is a result of the run that published it. */
async function changes(db: Kysely<Database>, project: string, since: number): Promise<readonly PromptResult[]> {
  const rows = await db
    .selectFrom('pull_rounds')
    .select(['run_id', 'sent_back_at'])
    .where('project', '=', project)
    .where('at', '>=', since)
    .execute();
  return rows.flatMap((row) =>
    row.run_id === null ? [] : [{ runId: row.run_id, isSentBack: row.sent_back_at !== null }],
  );
}

/** Completion claims that were decided; one that a later claim replaced, or that was withdrawn, says nothing. */
async function artifacts(db: Kysely<Database>, project: string, since: number): Promise<readonly PromptResult[]> {
  const rows = await db
    .selectFrom('completion_claims')
    .select(['run_id', 'state'])
    .where('project', '=', project)
    .where('at', '>=', since)
    .where('state', 'in', ['advanced', 'revise'])
    .execute();
  return rows.flatMap((row) =>
    row.run_id === null ? [] : [{ runId: row.run_id, isSentBack: row.state === 'revise' }],
  );
}

function merges(db: Kysely<Database>, project: string, since: number): Promise<readonly PromptMerge[]> {
  return (
    db
      .selectFrom('pull_requests')
      .select((eb) => ['issue_id as issueId', eb.ref('merged_at').$notNull().as('at')])
      .where('project', '=', project)
      .where('merged_at', '>=', since)
      // The runs since then do not say when the work on an issue began that had one before.
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('runs')
              .select('runs.run_id')
              .whereRef('runs.project', '=', 'pull_requests.project')
              .whereRef('runs.issue_id', '=', 'pull_requests.issue_id')
              .where('runs.started_at', '<', since),
          ),
        ),
      )
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('prompt_runs')
              .select('prompt_runs.run_id')
              .whereRef('prompt_runs.project', '=', 'pull_requests.project')
              .whereRef('prompt_runs.issue_id', '=', 'pull_requests.issue_id')
              .where('prompt_runs.started_at', '<', since),
          ),
        ),
      )
      .execute()
  );
}
