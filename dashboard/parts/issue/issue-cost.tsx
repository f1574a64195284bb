import type { VNode } from 'preact';
import type { IssueDetail } from '../../../src/client/schema/issue.ts';
import type { Run } from '../../../src/client/schema/run.ts';
import { runHref } from '../../data/page/router.ts';
import { countWords } from '../../data/text/words.ts';
import { Cost, Tokens } from '../costs/amount.tsx';
import { attemptWords, outcomeOf } from '../run/run-words.ts';
import { EmptyLine } from '../shared/empty-line.tsx';
import { Fact } from '../shared/fact.tsx';
import { Status } from '../shared/status.tsx';
import { Table } from '../shared/table.tsx';
import { Text } from '../shared/text.tsx';
import { ClockTime, Duration } from '../shared/time.tsx';

interface IssueCostProps {
  readonly project: string;
  readonly usage: IssueDetail['usage'];
  readonly runs: readonly Run[];
}

/** The cost of the issue: in sum, and by run. */
export function IssueCost({ project, usage, runs }: IssueCostProps): VNode {
  if (runs.length === 0) return <EmptyLine>No runs yet, so nothing was spent.</EmptyLine>;
  return (
    <>
      <dl class="line-of-facts">
        <Fact name={countWords(usage.runs, 'run', 'runs')}>
          <strong>
            <Cost of={usage} />
          </strong>
        </Fact>
        <UsageFacts usage={usage} />
      </dl>
      <Table
        caption="Cost by run"
        rows={runs}
        keyOf={({ run_id }) => run_id}
        toneOf={(run) => outcomeOf(run).tone}
        columns={[
          {
            label: 'Started',
            cell: ({ run_id, started_at }) => (
              <a href={runHref(project, run_id)} data-row>
                <ClockTime at={started_at} />
              </a>
            ),
          },
          { label: 'Run', cell: attemptWords },
          { label: 'Role', cell: ({ role }) => <Text text={role} /> },
          { label: 'Outcome', cell: (run) => <Status {...outcomeOf(run)} /> },
          {
            label: 'Account',
            cell: ({ backend, account }) => <Text text={[backend, account ?? ''].join(' ')} />,
            isWide: true,
          },
          {
            label: 'Time',
            cell: ({ started_at, ended_at }) => <Duration from={started_at} to={ended_at} />,
            isNumber: true,
          },
          { label: 'Turns', cell: ({ turns }) => turns, isNumber: true },
          { label: 'Input', cell: (run) => <Tokens count={run.usage.input_tokens} />, isNumber: true },
          { label: 'Cached', cell: (run) => <Tokens count={run.usage.cached_input_tokens} />, isNumber: true },
          { label: 'Output', cell: (run) => <Tokens count={run.usage.output_tokens} />, isNumber: true },
          { label: 'Cost', cell: (run) => <Cost of={run.usage} />, isNumber: true },
        ]}
      />
    </>
  );
}

/** The usage in its parts. */
function UsageFacts({ usage }: { readonly usage: Run['usage'] }): VNode {
  return (
    <>
      <Fact name="tokens">
        <Tokens count={usage.total_tokens} />
      </Fact>
      <Fact name="input">
        <Tokens count={usage.input_tokens} />
      </Fact>
      <Fact name="cached input">
        <Tokens count={usage.cached_input_tokens} />
      </Fact>
      <Fact name="output">
        <Tokens count={usage.output_tokens} />
      </Fact>
      <Fact name="reasoning output">
        <Tokens count={usage.reasoning_tokens} />
      </Fact>
    </>
  );
}
