import * as z from 'zod';
import { usageReport } from '../../../client/schema/system.ts';
import { utcDay } from '../../../core/cadence/utc-day.ts';
import type { UsageOfIssue, UsageSum } from '../../../store/tables/usage.ts';
import type { ApiProject } from '../api-project.ts';
import { activitiesOf } from '../present/issue-activity.ts';
import { seenIssues } from '../present/present-issue.ts';
import { presentUsage } from '../present/present-usage.ts';
import type { Route } from '../route.ts';
import { inProject, invalidRequest, type ReadParts } from './in-project.ts';

const dayMs = 24 * 3_600_000;
/** The default number of days, including today. */
const usualDays = 30;
const mostDays = 366;
const issuesShown = 100;

const query = z.object({ from: z.iso.date().optional(), to: z.iso.date().optional() });

/** Usage per UTC day, by role and by issue; each run has its own usage. */
export function usageRoutes(parts: ReadParts): Route[] {
  return [
    inProject(parts, {
      path: '/usage',
      summary: 'Tokens and cost by day, role and issue; the last 30 days by default.',
      query,
      answer: usageReport,
      handle: async (project, { query: { from, to } }) => {
        const toDay = to ?? utcDay(parts.clock.now());
        const fromDay = from ?? utcDay(Date.parse(toDay) - (usualDays - 1) * dayMs);
        const days = (Date.parse(toDay) - Date.parse(fromDay)) / dayMs + 1;
        if (days < 1) return invalidRequest('query.from', 'It must not be later than `to`.');
        if (days > mostDays)
          return invalidRequest('query.from', `The range up to \`to\` must not exceed ${mostDays} days.`);
        const { usage } = project.tables;
        const wanted = { fromDay, toDay };
        const byDay = await usage.sumByDay(project.id, wanted);
        const byRole = await usage.sumByRole(project.id, wanted);
        const byIssue = await usage.sumByIssue(project.id, { ...wanted, limit: issuesShown });
        const names = await namesOf(project, byIssue);
        return {
          from_day: fromDay,
          to_day: toDay,
          total: { ...presentUsage(sumOf(byDay)), runs: sumOf(byDay).runs },
          by_day: byDay.map((sum) => ({ ...presentUsage(sum), runs: sum.runs, day: sum.day ?? '' })),
          by_role: byRole.map((sum) => ({ ...presentUsage(sum), runs: sum.runs, role: sum.role })),
          by_issue: byIssue.map((sum) => ({
            issue_id: sum.issueId,
            issue_identifier: sum.identifier ?? names.get(sum.issueId)?.identifier ?? sum.issueId,
            title: names.get(sum.issueId)?.title ?? null,
            ...presentUsage(sum),
            runs: sum.runs,
          })),
        };
      },
    }),
  ];
}

/** The issues as they are now, as far as the board or the last poll has them. */
async function namesOf(
  project: ApiProject,
  sums: readonly UsageOfIssue[],
): Promise<ReadonlyMap<string, { readonly identifier: string; readonly title: string }>> {
  const { tables, id } = project;
  const model = project.read();
  const ids = sums.map(({ issueId }) => issueId);
  const onBoard = project.describe().has_board ? await tables.boardIssues.readMany(id, ids) : [];
  return new Map([...seenIssues(model, activitiesOf(model)), ...onBoard].map((issue) => [issue.id, issue] as const));
}

type Amounts = Omit<UsageSum, 'day'>;

function sumOf(sums: readonly UsageSum[]): Amounts {
  const add = (name: keyof Amounts): number => sums.reduce((total, sum) => total + sum[name], 0);
  return {
    inputTokens: add('inputTokens'),
    cachedInputTokens: add('cachedInputTokens'),
    outputTokens: add('outputTokens'),
    reasoningTokens: add('reasoningTokens'),
    totalTokens: add('totalTokens'),
    costMicroUsd: add('costMicroUsd'),
    runs: add('runs'),
  };
}
