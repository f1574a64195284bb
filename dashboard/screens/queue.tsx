import { useComputed } from '@preact/signals';
import type { VNode } from 'preact';
import type { StreamEvent } from '../../src/client/schema/event.ts';
import type { Queue } from '../../src/client/schema/system.ts';
import { useEachProject } from '../data/connection/each-project.ts';
import { projects } from '../data/connection/live.ts';
import { matchingRows, queueRows, reasonCounts, startsNext } from '../data/issue/queue-rows.ts';
import { rowKey, useKeys } from '../data/page/keyboard.ts';
import { isNarrow } from '../data/page/narrow.ts';
import { linkTo, queryWord } from '../data/page/router.ts';
import { countWords, plainWords } from '../data/text/words.ts';
import { QueueRow, queueRowHeight } from '../parts/rows/queue-row.tsx';
import { EmptyLine } from '../parts/shared/empty-line.tsx';
import { ProblemLine } from '../parts/shared/problem-line.tsx';
import { Countdown } from '../parts/shared/time.tsx';
import { TypedFilter } from '../parts/shared/typed-filter.tsx';
import { VirtualList } from '../parts/shared/virtual-list.tsx';

/** A long queue takes long to read, so it is read at most this often. */
const settleMs = 1_000;

/** Every candidate in starting order, with the planner's reason why it does not start yet. */
export function QueueScreen(): VNode {
  const { answers } = useEachProject<Queue>('queue', { changesWith: isAboutQueue, settleMs });
  const all = useComputed(() => queueRows(answers.value));
  const counts = useComputed(() => reasonCounts(all.value));
  const reason = queryWord('reason');
  const text = queryWord('q');
  const rows = reason === '' && text === '' ? all.value : matchingRows(all.value, { reason, text });
  useKeys([
    rowKey('r', 'retry the row', 'issue_retry'),
    rowKey('p', 'hold the row', 'issue_hold'),
    rowKey('u', 'release the row', 'issue_release'),
  ]);
  const next = answers.value.flatMap(({ value }) => value?.next_poll_at ?? []).sort()[0] ?? null;
  const isRead = answers.value.length > 0;
  return (
    <div class="screen queue-screen">
      <header class="queue-head">
        <h1 tabIndex={-1}>Queue</h1>
        {isRead && (
          <p>
            {countWords(all.value.length, 'candidate', 'candidates')}
            {next !== null && (
              <>
                ; the next poll is <Countdown at={next} />
              </>
            )}
          </p>
        )}
        <search>
          <TypedFilter name="q" label="Search the queue" placeholder="Search the queue" />
        </search>
      </header>
      {answers.value.map(({ project, problem }) => problem !== null && <ProblemLine key={project} problem={problem} />)}
      <nav class="reasons" aria-label="Why they wait">
        <Reason code="" count={all.value.length} chosen={reason} text={text} />
        {counts.value.map(([code, count]) => (
          <Reason key={code} code={code} count={count} chosen={reason} text={text} />
        ))}
      </nav>
      {rows.length === 0 ? (
        <EmptyLine isAsking={!isRead && projects.value?.size !== 0}>{emptyWords(isRead, all.value.length)}</EmptyLine>
      ) : (
        <VirtualList
          label="Candidates, in the order in which they would start"
          rows={rows}
          keyOf={({ key }) => key}
          rowHeight={isNarrow.value ? queueRowHeight.narrow : queueRowHeight.wide}
          render={(row, isTabStop) => <QueueRow row={row} isTabStop={isTabStop} />}
        />
      )}
    </div>
  );
}

/** Codes that say too little on their own. */
const codeWords: Readonly<Record<string, string | undefined>> = {
  '': 'all',
  [startsNext]: 'starts next',
  project_full: 'no free slot',
  state_full: 'no free slot in its state',
  global_full: 'no free slot in Baton',
  no_headroom: 'disk or memory',
  environment: 'no run can begin',
};

interface ReasonProps {
  readonly code: string;
  readonly count: number;
  readonly chosen: string;
  readonly text: string;
}

function Reason({ code, count, chosen, text }: ReasonProps): VNode {
  const words = { ...(code === '' ? {} : { reason: code }), ...(text === '' ? {} : { q: text }) };
  return (
    <a href={linkTo('/queue', words)} aria-current={code === chosen ? 'true' : undefined}>
      {codeWords[code] ?? plainWords(code)} <span class="count">{count.toLocaleString()}</span>
    </a>
  );
}

function emptyWords(isRead: boolean, count: number): string {
  if (projects.value?.size === 0) return 'Baton has no project.';
  if (!isRead) return projects.value === null ? 'Loading the current state.' : 'Loading the queue.';
  return count === 0 ? 'No issue is waiting to start.' : 'No candidate matches the filter.';
}

/** A waiting or held issue changed, or a run ended; the progress of a run does not change the queue. */
function isAboutQueue(event: StreamEvent): boolean {
  if (event.name !== 'patch') return event.name === 'issue_changed';
  const { set, drop } = event.data;
  return [set.waiting, drop.waiting, set.needs_you, drop.needs_you, drop.running].some((rows) => rows !== undefined);
}
