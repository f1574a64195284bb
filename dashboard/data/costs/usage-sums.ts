import type { UsageReport } from '../../../src/client/schema/system.ts';
import { hasNoPrice } from '../../../src/core/text/amount-text.ts';
import type { DayRange } from './day-range.ts';
import { daysOf } from './day-range.ts';

/** Tokens, money and runs of anything: a day, a role, an issue, a project. */
export type Sum = UsageReport['total'];

export interface NamedSum extends Sum {
  readonly name: string;
}

export interface IssueSum extends Sum {
  readonly project: string;
  readonly issue_id: string;
  readonly issue_identifier: string;
  readonly title: string | null;
}

/** The usage of several projects together. */
export interface UsageSums {
  readonly range: DayRange;
  readonly total: Sum;
  /** Every day of the range, in order. */
  readonly days: readonly NamedSum[];
  readonly roles: readonly NamedSum[];
  readonly projects: readonly NamedSum[];
  readonly issues: readonly IssueSum[];
}

const nothing: Sum = {
  input_tokens: 0,
  output_tokens: 0,
  total_tokens: 0,
  cached_input_tokens: 0,
  reasoning_tokens: 0,
  cost_usd: 0,
  runs: 0,
};

/** Adds up the reports of projects; null while there is none. They are about the same days. */
export function sumUsage(
  reports: readonly { readonly project: string; readonly report: UsageReport }[],
): UsageSums | null {
  const first = reports[0]?.report;
  if (first === undefined) return null;
  const range = { from: first.from_day, to: first.to_day };
  const days = byName(reports.flatMap(({ report }) => report.by_day.map((sum) => ({ ...sum, name: sum.day }))));
  return {
    range,
    total: reports.reduce((sum, { report }) => plus(sum, report.total), nothing),
    days: daysOf(range).map((day) => days.get(day) ?? { ...nothing, name: day }),
    roles: mostFirst([
      ...byName(reports.flatMap(({ report }) => report.by_role.map((sum) => ({ ...sum, name: sum.role })))).values(),
    ]),
    projects: mostFirst(reports.map(({ project, report }) => ({ ...report.total, name: project }))),
    issues: mostFirst(reports.flatMap(({ project, report }) => report.by_issue.map((sum) => ({ ...sum, project })))),
  };
}

export function isCostUnknown({ cost_usd, total_tokens }: Pick<Sum, 'cost_usd' | 'total_tokens'>): boolean {
  return hasNoPrice(total_tokens, cost_usd);
}

/** The parts of a bar: each token is in one of them. In the report, cached tokens are part of the input too. */
export function tokenParts(sum: Sum): { readonly input: number; readonly cached: number; readonly output: number } {
  const cached = Math.min(sum.cached_input_tokens, sum.input_tokens);
  return { input: sum.input_tokens - cached, cached, output: sum.output_tokens };
}

function byName(sums: readonly NamedSum[]): ReadonlyMap<string, NamedSum> {
  const found = new Map<string, NamedSum>();
  for (const sum of sums) found.set(sum.name, { ...plus(found.get(sum.name) ?? nothing, sum), name: sum.name });
  return found;
}

function plus(a: Sum, b: Sum): Sum {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    total_tokens: a.total_tokens + b.total_tokens,
    cached_input_tokens: a.cached_input_tokens + b.cached_input_tokens,
    reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
    cost_usd: a.cost_usd + b.cost_usd,
    runs: a.runs + b.runs,
  };
}

function mostFirst<S extends Sum>(sums: readonly S[]): readonly S[] {
  return [...sums].sort((a, b) => b.total_tokens - a.total_tokens || b.runs - a.runs);
}
