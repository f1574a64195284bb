import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import { atomically } from '../atomically.ts';
import { cutToBytes } from '../cut-text.ts';
import { toJsonText } from '../json-text.ts';
import type { Database } from '../schema.ts';
import { rowFromStart, runFrom } from './run-rows.ts';
import type { RunFacts, RunRecord, Runs } from './runs.ts';

/** Names in one statement; each is a parameter. */
const namesAStatement = 500;

/** Bytes of the last message that a run keeps; the transcript has all of it. */
const longestLastMessage = 4_096;

export function runsTable(db: Kysely<Database>): Runs {
  /** In progress and started with this generation: whoever shows an old one writes nothing. */
  const inProgress = (runId: string, generation: number) =>
    db
      .updateTable('runs')
      .where('run_id', '=', runId)
      .where('generation', '=', generation)
      .where('ended_at', 'is', null);
  const newest = async (project: string, by: 'issue_id' | 'name_key', value: string): Promise<RunRecord | null> => {
    const row = await db
      .selectFrom('runs')
      .selectAll()
      .where('project', '=', project)
      .where(by, '=', value)
      .orderBy('seq', 'desc')
      .orderBy('run_id', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row === undefined ? null : runFrom(row);
  };
  return {
    start: async (run) => {
      // After every run of the project that is there. The few that start in the same moment, with a lock on nothing, may
      // get the same number; the runs of one issue never do, for each starts after the end of the one before.
      const seq = sql<number>`(select coalesce(max(seq), 0) + 1 from runs where project = ${run.project})`;
      await db
        .insertInto('runs')
        .values({ ...rowFromStart(run), seq })
        .execute();
    },

    record: async (runId, generation, facts) => {
      const done = await inProgress(runId, generation)
        .set((eb) => ({ generation, ...plainFacts(facts), ...totals(eb, facts) }))
        .executeTakeFirst();
      return done.numUpdatedRows === 1n;
    },

    finish: async (runId, generation, end) => {
      const done = await inProgress(runId, generation)
        .set({
          ended_at: end.endedAt,
          outcome: end.outcome,
          error_code: end.errorCode,
          error_message: end.errorMessage,
        })
        .executeTakeFirst();
      return done.numUpdatedRows === 1n;
    },

    read: async (runId) => {
      const row = await db.selectFrom('runs').selectAll().where('run_id', '=', runId).executeTakeFirst();
      return row === undefined ? null : runFrom(row);
    },

    list: async (project, query) => {
      let wanted = db
        .selectFrom('runs')
        .selectAll()
        .where('project', '=', project)
        .orderBy('seq', 'desc')
        .orderBy('run_id', 'desc')
        .limit(query.limit);
      if (query.issueId !== undefined) wanted = wanted.where('issue_id', '=', query.issueId);
      if (query.before !== undefined) {
        const { seq, runId } = query.before;
        wanted = wanted.where((eb) => eb(eb.refTuple('seq', 'run_id'), '<', eb.tuple(seq, runId)));
      }
      return (await wanted.execute()).map(runFrom);
    },

    latestOfIssue: ({ project, issueId }) => newest(project, 'issue_id', issueId),

    latestNamed: async (project, name) => {
      const wanted = name.trim();
      return (await newest(project, 'issue_id', wanted)) ?? (await newest(project, 'name_key', wanted.toLowerCase()));
    },

    latestStarts: async (project, issueIds) => {
      const found = new Map<string, number>();
      for (let from = 0; from < issueIds.length; from += namesAStatement) {
        const rows = await db
          .selectFrom('runs')
          .select((eb) => ['issue_id', eb.fn.max('started_at').as('startedAt')])
          .where('project', '=', project)
          .where('issue_id', 'in', issueIds.slice(from, from + namesAStatement))
          .groupBy('issue_id')
          .execute();
        for (const row of rows) found.set(row.issue_id, row.startedAt);
      }
      return found;
    },

    latestOfIssues: (project, issueIds) => latestBy(db, 'issue_id', project, issueIds),

    latestInWorkspaces: (project, workspaces) => latestBy(db, 'workspace', project, workspaces),

    noteEvidence: async (runId, evidence) => {
      const done = await db
        .updateTable('runs')
        .set({ evidence_json: toJsonText(evidence) })
        .where('run_id', '=', runId)
        .executeTakeFirst();
      return done.numUpdatedRows === 1n;
    },

    keepNote: async (runId, note) => {
      const done = await db.updateTable('runs').set({ note }).where('run_id', '=', runId).executeTakeFirst();
      return done.numUpdatedRows === 1n;
    },

    noteRemoval: async (runId, removal) => {
      const done = await db
        .updateTable('runs')
        .set({ removal_json: toJsonText(removal) })
        .where('run_id', '=', runId)
        .executeTakeFirst();
      return done.numUpdatedRows === 1n;
    },

    unfinished: async (project) => {
      const rows = await db
        .selectFrom('runs')
        .selectAll()
        .where('project', '=', project)
        .where('ended_at', 'is', null)
        .orderBy('seq')
        .orderBy('run_id')
        .execute();
      return rows.map(runFrom);
    },

    countByIssue: async (key) => {
      const row = await db
        .selectFrom('runs')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('project', '=', key.project)
        .where('issue_id', '=', key.issueId)
        .executeTakeFirstOrThrow();
      return row.count;
    },

    prune: (endedBefore, limit) =>
      atomically(db, async (inside) => {
        const old = await inside
          .selectFrom('runs')
          .select('run_id')
          .where('ended_at', '<', endedBefore)
          .orderBy('ended_at')
          .limit(limit)
          .execute();
        const ids = old.map((row) => row.run_id);
        // Their events go with them: the foreign key cascades.
        if (ids.length > 0) await inside.deleteFrom('runs').where('run_id', 'in', ids).execute();
        return ids;
      }),
  };
}

function plainFacts(facts: RunFacts) {
  return {
    ...(facts.pid === undefined ? {} : { pid: facts.pid }),
    ...(facts.pidStartTime === undefined ? {} : { pid_start_time: facts.pidStartTime }),
    ...(facts.workspace === undefined ? {} : { workspace: facts.workspace }),
    ...(facts.evidence === undefined ? {} : { evidence_json: toJsonText(facts.evidence) }),
    ...(facts.threadId === undefined ? {} : { thread_id: facts.threadId }),
    ...(facts.note === undefined ? {} : { note: facts.note }),
    ...(facts.lastMessage === undefined ? {} : { last_message: cutToBytes(facts.lastMessage, longestLastMessage) }),
  };
}

const columnOfTotal = {
  turns: 'turns',
  inputTokens: 'input_tokens',
  cachedInputTokens: 'cached_input_tokens',
  outputTokens: 'output_tokens',
  reasoningTokens: 'reasoning_tokens',
  totalTokens: 'total_tokens',
  costMicroUsd: 'cost_micro_usd',
} as const;

/** A total never falls: reports may come out of order. */
function totals(eb: ExpressionBuilder<Database, 'runs'>, facts: RunFacts) {
  const known = Object.entries(columnOfTotal).flatMap(([name, column]) => {
    const value = facts[name as keyof typeof columnOfTotal];
    if (value === undefined) return [];
    const larger = eb.case().when(column, '<', value).then(sql<number>`${value}`).else(eb.ref(column)).end();
    return [[column, larger] as const];
  });
  return Object.fromEntries(known);
}

/** Of each of these names the run of that name that started last. */
async function latestBy(
  db: Kysely<Database>,
  column: 'issue_id' | 'workspace',
  project: string,
  names: readonly string[],
): Promise<readonly RunRecord[]> {
  const found: RunRecord[] = [];
  for (let from = 0; from < names.length; from += namesAStatement) {
    const rows = await db
      .selectFrom('runs')
      .selectAll()
      .where('project', '=', project)
      .where(column, 'in', names.slice(from, from + namesAStatement))
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('runs as later')
              .select('later.run_id')
              .whereRef('later.project', '=', 'runs.project')
              .whereRef(`later.${column}`, '=', `runs.${column}`)
              .where(sql<boolean>`(later.seq, later.run_id) > (runs.seq, runs.run_id)`),
          ),
        ),
      )
      .orderBy(column)
      .execute();
    found.push(...rows.map(runFrom));
  }
  return found;
}
