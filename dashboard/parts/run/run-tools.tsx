import type { VNode } from 'preact';
import type { RunDetail, Span } from '../../../src/client/schema/run.ts';
import { queryWord, setQuery } from '../../data/page/router.ts';
import { countWords, stepWords, stopwatchWords } from '../../data/text/words.ts';
import { EmptyLine } from '../shared/empty-line.tsx';
import { Status } from '../shared/status.tsx';
import { Table } from '../shared/table.tsx';
import { Text } from '../shared/text.tsx';
import { Duration } from '../shared/time.tsx';
import { SecondTime } from './transcript-entry.tsx';

interface Call {
  readonly number: number;
  readonly span: Span;
  /** Null while it lasts. */
  readonly ms: number | null;
}

/** The tool calls of a run with how long each took; in their order, or the longest first. */
export function RunTools({ run }: { readonly run: RunDetail }): VNode {
  const isByLength = queryWord('sort') === 'length';
  const calls: Call[] = run.spans
    .filter(({ kind }) => kind === 'tool')
    .map((span, index) => ({
      number: index + 1,
      span,
      ms: span.ended_at === null ? null : Math.max(0, Date.parse(span.ended_at) - Date.parse(span.started_at)),
    }));
  if (calls.length === 0) return <EmptyLine>No tool calls.</EmptyLine>;
  const length = ({ ms }: Call): number => ms ?? Number.POSITIVE_INFINITY;
  const rows = isByLength ? calls.toSorted((a, b) => length(b) - length(a)) : calls;
  const failed = calls.filter(({ span }) => span.is_ok === false).length;
  const sum = calls.reduce((total, { ms }) => total + (ms ?? 0), 0);
  return (
    <>
      <div class="log-tools">
        <span>
          {countWords(calls.length, 'call', 'calls')}, {failed} failed, {stopwatchWords(sum)} in all
        </span>
        <label class="choice">
          <input
            type="checkbox"
            checked={isByLength}
            onChange={() => setQuery({ sort: isByLength ? null : 'length' })}
          />
          Longest first
        </label>
      </div>
      {run.are_spans_cut && <p class="warning-line">There were more calls: only the first and the last are shown.</p>}
      <Table
        caption="Tool calls"
        rows={rows}
        keyOf={({ number }) => String(number)}
        toneOf={({ span }) =>
          span.is_ok === false ? 'broken' : span.ended_at === null && run.ended_at === null ? 'running' : null
        }
        columns={[
          { label: 'At', cell: ({ span }) => <SecondTime at={span.started_at} /> },
          { label: 'Tool', cell: ({ span }) => <Text text={span.name} />, isWide: true },
          { label: 'Outcome', cell: ({ span }) => <Ended span={span} run={run} /> },
          { label: 'Took', cell: ({ span, ms }) => <Took span={span} ms={ms} run={run} />, isNumber: true },
        ]}
      />
    </>
  );
}

function Ended({ span, run }: { readonly span: Span; readonly run: RunDetail }): VNode {
  if (span.is_ok === false) return <Status tone="broken" word="failed" />;
  if (span.is_ok === true) return <span class="quiet-text">ok</span>;
  if (span.ended_at === null && run.ended_at === null) return <Status tone="running" word="in progress" />;
  return <span class="none">unknown</span>;
}

function Took({ span, ms, run }: { readonly span: Span; readonly ms: number | null; readonly run: RunDetail }): VNode {
  if (ms === null) return run.ended_at === null ? <Duration from={span.started_at} /> : <span class="none">–</span>;
  return <span class="number">{stepWords(ms)}</span>;
}
