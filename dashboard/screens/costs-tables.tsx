import type { ComponentChildren, VNode } from 'preact';
import { useId } from 'preact/hooks';
import { harmlessLine } from '../../src/core/text/harmless-line.ts';
import { hasSeveralProjects } from '../data/connection/live.ts';
import type { DayRange } from '../data/costs/day-range.ts';
import { type IssueSum, isCostUnknown, type NamedSum, type Sum, type UsageSums } from '../data/costs/usage-sums.ts';
import { issueHref } from '../data/page/router.ts';
import { countWords } from '../data/text/words.ts';
import { Cost, Tokens } from '../parts/costs/amount.tsx';
import { DayChart, dayWords } from '../parts/costs/chart-days.tsx';
import { ShareBar } from '../parts/costs/chart-share.tsx';
import { CsvButton } from '../parts/costs/csv-button.tsx';
import { type Column, Table } from '../parts/shared/table.tsx';
import { Text } from '../parts/shared/text.tsx';

const amounts: readonly Column<Sum>[] = [
  { label: 'Input', isNumber: true, cell: ({ input_tokens }) => <Tokens count={input_tokens} /> },
  { label: 'Cached', isNumber: true, cell: ({ cached_input_tokens }) => <Tokens count={cached_input_tokens} /> },
  { label: 'Output', isNumber: true, cell: ({ output_tokens }) => <Tokens count={output_tokens} /> },
  { label: 'Reasoning', isNumber: true, cell: ({ reasoning_tokens }) => <Tokens count={reasoning_tokens} /> },
  {
    label: 'Cost',
    isNumber: true,
    cell: (sum) => <Cost of={sum} />,
  },
  { label: 'Runs', isNumber: true, cell: ({ runs }) => runs },
];

interface CostsByDayProps {
  readonly sums: UsageSums;
  /** How many tokens a day may use; null without a limit. */
  readonly limit: number | null;
}

/** The chart, and the same as a table, the newest day first. Days without a run are in the chart only. */
export function CostsByDay({ sums: { days, range }, limit }: CostsByDayProps): VNode {
  const used = days.filter(({ runs, total_tokens }) => runs > 0 || total_tokens > 0);
  const unused = days.length - used.length;
  const columns: readonly Column<NamedSum>[] = [
    { label: 'Day', cell: ({ name }) => <time dateTime={name}>{dayWords(name)}</time> },
    ...amounts,
  ];
  return (
    <CostsSection title="By day" what="day" range={range} rows={days} nameOf={({ name }) => [name]}>
      <div class="side-by-side">
        <DayChart days={days} limit={limit} />
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a part that scrolls. */}
        <section class="scrolls" tabIndex={0} aria-label="By day, as a table">
          <Table caption="Usage by day" columns={columns} rows={used.toReversed()} keyOf={({ name }) => name} />
          {unused > 0 && <p class="quiet-text">{countWords(unused, 'day', 'days')} without a run.</p>}
        </section>
      </div>
    </CostsSection>
  );
}

interface CostsByNameProps {
  readonly title: string;
  readonly what: string;
  readonly rows: readonly NamedSum[];
  readonly range: DayRange;
}

export function CostsByName({ title, what, rows, range }: CostsByNameProps): VNode {
  return (
    <CostsSection title={title} what={what.toLowerCase()} range={range} rows={rows} nameOf={({ name }) => [name]}>
      {what === 'Role' && (
        <p class="quiet-text">
          A worker does an issue, a phase agent prepares it, and a judge reviews what they wrote.
        </p>
      )}
      <Table
        caption={`Usage ${title.toLowerCase()}`}
        rows={rows}
        keyOf={({ name }) => name}
        columns={[
          { label: what, cell: ({ name }) => <Text text={what === 'Role' ? name.replaceAll('_', ' ') : name} /> },
          barColumn(rows),
          ...amounts,
        ]}
      />
    </CostsSection>
  );
}

/** The issues that used the most, with links to them. */
export function CostsByIssue({ sums: { issues, range } }: { readonly sums: UsageSums }): VNode {
  const name: Column<IssueSum> = {
    label: 'Issue',
    cell: ({ project, issue_identifier, title }) => (
      <>
        <a href={issueHref(project, issue_identifier)} data-row>
          <Text text={issue_identifier} />
        </a>
        {hasSeveralProjects.value && (
          <small>
            {' '}
            <Text text={project} />
          </small>
        )}
        {title !== null && (
          <span class="issue-title" title={harmlessLine(title)}>
            <Text text={title} />
          </span>
        )}
      </>
    ),
  };
  return (
    <CostsSection
      title="By issue"
      what="issue"
      range={range}
      rows={issues}
      nameOf={({ issue_identifier, project }) => [issue_identifier, project]}
      more={['project']}
    >
      <Table
        caption="Usage by issue, the largest first"
        rows={issues}
        keyOf={({ project, issue_id }) => `${project}/${issue_id}`}
        columns={[name, barColumn(issues), ...amounts]}
      />
    </CostsSection>
  );
}

function barColumn(rows: readonly Sum[]): Column<Sum> {
  const longest = Math.max(...rows.map(({ total_tokens }) => total_tokens));
  return { label: 'Tokens', isWide: true, cell: (sum) => <ShareBar sum={sum} longest={longest} /> };
}

interface CostsSectionProps<R extends Sum> {
  readonly title: string;
  readonly what: string;
  readonly range: DayRange;
  readonly rows: readonly R[];
  readonly nameOf: (row: R) => readonly string[];
  readonly more?: readonly string[];
  readonly children: ComponentChildren;
}

const csvNames = [
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'reasoning_tokens',
  'total_tokens',
  'cost_usd',
  'runs',
] as const;

function CostsSection<R extends Sum>(props: CostsSectionProps<R>): VNode {
  const { title, what, range, rows, nameOf, more = [], children } = props;
  const id = useId();
  return (
    <section class="band" aria-labelledby={id}>
      <header class="band-head">
        <h2 id={id}>{title}</h2>
        <CsvButton
          name={title.toLowerCase()}
          fileName={`baton-usage-by-${what}-${range.from}-to-${range.to}.csv`}
          header={[what, ...more, ...csvNames]}
          rows={() =>
            rows.map((row) => [...nameOf(row).map(harmlessLine), ...csvNames.map((name) => cellOf(row, name))])
          }
        />
      </header>
      {children}
    </section>
  );
}

/** An unknown cost is left out: a zero would be summed. A known one is exact to a millionth of a dollar. */
function cellOf(sum: Sum, name: (typeof csvNames)[number]): number | string {
  if (name === 'cost_usd' && isCostUnknown(sum)) return '';
  return Math.round(sum[name] * 1_000_000) / 1_000_000;
}
