import { type ExpressionBuilder, type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { Database } from '../schema.ts';
import type { Usage, UsageAmount, UsageDays, UsageSum } from './usage.ts';

const columnOf = {
  inputTokens: 'input_tokens',
  cachedInputTokens: 'cached_input_tokens',
  outputTokens: 'output_tokens',
  reasoningTokens: 'reasoning_tokens',
  totalTokens: 'total_tokens',
  costMicroUsd: 'cost_micro_usd',
  runs: 'runs',
} as const;

type Amounts = Pick<UsageAmount, keyof typeof columnOf>;

export function usageTable(db: Kysely<Database>): Usage {
  return {
    add: async (usage) => {
      await db
        .insertInto('usage')
        .values({
          project: usage.project,
          issue_id: usage.issueId,
          day: usage.day,
          role: usage.role,
          input_tokens: usage.inputTokens,
          cached_input_tokens: usage.cachedInputTokens,
          output_tokens: usage.outputTokens,
          reasoning_tokens: usage.reasoningTokens,
          total_tokens: usage.totalTokens,
          cost_micro_usd: usage.costMicroUsd,
          runs: usage.runs,
        })
        .onConflict((conflict) =>
          conflict.columns(['project', 'day', 'issue_id', 'role']).doUpdateSet((eb) => ({
            input_tokens: eb('usage.input_tokens', '+', usage.inputTokens),
            cached_input_tokens: eb('usage.cached_input_tokens', '+', usage.cachedInputTokens),
            output_tokens: eb('usage.output_tokens', '+', usage.outputTokens),
            reasoning_tokens: eb('usage.reasoning_tokens', '+', usage.reasoningTokens),
            total_tokens: eb('usage.total_tokens', '+', usage.totalTokens),
            cost_micro_usd: eb('usage.cost_micro_usd', '+', usage.costMicroUsd),
            runs: eb('usage.runs', '+', usage.runs),
          })),
        )
        .execute();
    },

    sumByDay: async (project, query) => {
      const rows = await summedIn(db, project, query).select('day').groupBy('day').orderBy('day').execute();
      return rows.map((row) => ({ ...row }));
    },

    sumByRole: async (project, query) => {
      const rows = await summedIn(db, project, query).select('role').groupBy('role').orderBy('role').execute();
      return rows.map((row) => ({ ...row }));
    },

    sumByIssue: async (project, query) => {
      const rows = await summedIn(db, project, query)
        .select(['issue_id', (eb) => identifierOf(eb, project).as('identifier')])
        .groupBy('issue_id')
        .orderBy(sql.ref('totalTokens'), 'desc')
        .orderBy('issue_id')
        .limit(query.limit)
        .execute();
      return rows.map(({ issue_id: issueId, ...rest }) => ({ issueId, ...rest }));
    },

    sumOfIssue: async (key): Promise<UsageSum> => {
      const sum = await summed(db.selectFrom('usage'))
        .where('project', '=', key.project)
        .where('issue_id', '=', key.issueId)
        .executeTakeFirstOrThrow();
      return { day: null, ...sum };
    },
  };
}

function summedIn(db: Kysely<Database>, project: string, { fromDay, toDay }: UsageDays) {
  return summed(db.selectFrom('usage'))
    .where('project', '=', project)
    .where('day', '>=', fromDay)
    .where('day', '<=', toDay);
}

/** Asked for the few rows that are told, by the index of an issue's runs. */
function identifierOf(eb: ExpressionBuilder<Database, 'usage'>, project: string) {
  return eb
    .selectFrom('runs')
    .select('runs.identifier')
    .where('runs.project', '=', project)
    .whereRef('runs.issue_id', '=', 'usage.issue_id')
    .orderBy('runs.started_at', 'desc')
    .orderBy('runs.run_id', 'desc')
    .limit(1);
}

/** A sum of nothing is zero; the cast keeps PostgreSQL from answering with a decimal. */
function summed(from: SelectQueryBuilder<Database, 'usage', object>): SelectQueryBuilder<Database, 'usage', Amounts> {
  const sums = Object.entries(columnOf).map(([name, column]) =>
    sql<number>`cast(coalesce(sum(${sql.ref(column)}), 0) as bigint)`.as(name),
  );
  // One sum a name of `columnOf`, which a list of expressions cannot tell the type checker.
  return from.select(sums) as SelectQueryBuilder<Database, 'usage', Amounts>;
}
