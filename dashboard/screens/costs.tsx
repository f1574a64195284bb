import { useComputed } from '@preact/signals';
import type { VNode } from 'preact';
import type { UsageReport } from '../../src/client/schema/system.ts';
import { useEachProject } from '../data/connection/each-project.ts';
import { useInterval } from '../data/connection/interval.ts';
import { shownProjects } from '../data/connection/live.ts';
import { type DayRange, dayOf, lastDays, mostDays, readRange } from '../data/costs/day-range.ts';
import { isCostUnknown, sumUsage } from '../data/costs/usage-sums.ts';
import { now } from '../data/page/clock.ts';
import { linkTo, queryWord, setQuery } from '../data/page/router.ts';
import { ProblemLine } from '../parts/shared/problem-line.tsx';
import { CostsSums } from './costs-sums.tsx';
import { CostsByDay, CostsByIssue, CostsByName } from './costs-tables.tsx';

/** No event reports the use of tokens. */
const againMs = 15_000;

/** Usage and cost: by day, by role, by issue, and by project where there are several. */
export function CostsScreen(): VNode {
  const today = useComputed(() => dayOf(now.value)).value;
  const range = readRange({ from: queryWord('from'), to: queryWord('to'), days: queryWord('days') }, today);
  const { answers, reload } = useEachProject<UsageReport>(`usage?from=${range.from}&to=${range.to}`);
  useInterval(againMs, reload);
  const sums = sumUsage(
    answers.value.flatMap(({ project, value }) => (value === null ? [] : [{ project, report: value }])),
  );
  return (
    <div class="screen costs">
      <header class="costs-head">
        <h1 tabIndex={-1}>Costs</h1>
        <RangeChoice range={range} today={today} />
      </header>
      {answers.value.map(({ project, problem }) => problem !== null && <ProblemLine key={project} problem={problem} />)}
      {sums !== null && (
        <>
          <CostsSums total={sums.total} hasUnpriced={sums.days.some(isCostUnknown)} />
          {sums.total.total_tokens === 0 ? (
            <p class="empty">
              No tokens were used from {sums.range.from} to {sums.range.to}.
            </p>
          ) : (
            <>
              <CostsByDay sums={sums} limit={tokenLimit()} />
              {sums.projects.length > 1 && (
                <CostsByName title="By project" what="Project" rows={sums.projects} range={sums.range} />
              )}
              {sums.roles.length > 1 && (
                <CostsByName title="By role" what="Role" rows={sums.roles} range={sums.range} />
              )}
              <CostsByIssue sums={sums} />
            </>
          )}
        </>
      )}
    </div>
  );
}

/** The limit of the day; several projects have none in common. */
function tokenLimit(): number | null {
  const [only, ...others] = shownProjects.value;
  return only === undefined || others.length > 0 ? null : only.vitals.today.token_limit;
}

const quick = [7, 30, 90] as const;

/** Which days; they are in the address. */
function RangeChoice({ range, today }: { readonly range: DayRange; readonly today: string }): VNode {
  const field = (name: 'from' | 'to', label: string): VNode => (
    <label>
      {label}{' '}
      <input
        // A new range makes a new field; until then, typed text stays in it.
        key={range[name]}
        type="date"
        max={today}
        defaultValue={range[name]}
        onChange={({ currentTarget }) => {
          if (currentTarget.value !== '') setQuery({ ...range, days: null, [name]: currentTarget.value }, 'push');
        }}
      />
    </label>
  );
  return (
    <fieldset class="range" aria-label={`Days to show, at most ${mostDays}`}>
      {quick.map((days) => {
        const { from, to } = lastDays(days, today);
        const isChosen = from === range.from && to === range.to;
        return (
          <a key={days} href={linkTo('/costs', { days: `${days}` })} aria-current={isChosen ? 'true' : undefined}>
            {days} days
          </a>
        );
      })}
      {field('from', 'from')}
      {field('to', 'to')}
    </fieldset>
  );
}
