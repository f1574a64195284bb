import { type ExpressionBuilder, type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { IssueKey } from '../issue-key.ts';
import type { Database } from '../schema.ts';
import { ofIssue } from './statements.ts';

/** Both included. */
export interface UsageDays {
  readonly fromDay: string;
  readonly toDay: string;
}

export interface UsageAmount extends IssueKey {
  /** `2026-11-15`. */
  readonly day: string;
  readonly role: string;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly totalTokens: number;
  readonly costMicroUsd: number;
  readonly runs: number;
}

export interface UsageSum extends Amounts {
  /** Null for a sum over all days. */
  readonly day: string | null;
}

export interface UsageOfRole extends Amounts {
  readonly role: string;
}

export interface UsageOfIssue extends Amounts {
  readonly issueId: string;
  /** By its last run that is still known; null when none is. */
  readonly identifier: string | null;
}

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

/** Tokens and money by UTC day, issue and role; it stays when runs are pruned. */
export function usageTable(db: Kysely<Database>) {
  const inDays = (project: string, { fromDay, toDay }: UsageDays) =>
    summed(db.selectFrom('usage')).where('project', '=', project).where('day', '>=', fromDay).where('day', '<=', toDay);
  return {
    add: async ({ project, issueId, day, role, ...amounts }: UsageAmount): Promise<void> => {
      const row = {
        input_tokens: amounts.inputTokens,
        cached_input_tokens: amounts.cachedInputTokens,
        output_tokens: amounts.outputTokens,
        reasoning_tokens: amounts.reasoningTokens,
        total_tokens: amounts.totalTokens,
        cost_micro_usd: amounts.costMicroUsd,
        runs: amounts.runs,
      };
      await db
        .insertInto('usage')
        .values({ project, issue_id: issueId, day, role, ...row })
        .onConflict((conflict) =>
          conflict.columns(['project', 'day', 'issue_id', 'role']).doUpdateSet((eb) => {
            const sums = Object.values(columnOf).map((column) => [column, eb(`usage.${column}`, '+', row[column])]);
            return Object.fromEntries(sums);
          }),
        )
        .execute();
    },

    sumByDay: (project: string, query: UsageDays): Promise<readonly UsageSum[]> =>
      inDays(project, query).select('day').groupBy('day').orderBy('day').execute(),

    sumByRole: (project: string, query: UsageDays): Promise<readonly UsageOfRole[]> =>
      inDays(project, query).select('role').groupBy('role').orderBy('role').execute(),

    /** Those that used the most tokens first. */
    sumByIssue: (project: string, query: UsageDays & { readonly limit: number }): Promise<readonly UsageOfIssue[]> =>
      inDays(project, query)
        .select(['issue_id as issueId', (eb) => identifierOf(eb, project).as('identifier')])
        .groupBy('issue_id')
        .orderBy(sql.ref('totalTokens'), 'desc')
        .orderBy('issue_id')
        .limit(query.limit)
        .execute(),

    sumOfIssue: async (key: IssueKey): Promise<UsageSum> => {
      const sum = await summed(db.selectFrom('usage')).where(ofIssue(key)).executeTakeFirstOrThrow();
      return { day: null, ...sum };
    },
  };
}

/** Read for the few rows of the answer, by the index of an issue's runs. */
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
