import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { NeedsYou } from '../../src/client/schema/now.ts';
import { freeSlots } from '../../src/core/dispatch/slots.ts';
import { harmlessLine } from '../../src/core/text/harmless-line.ts';
import { rankOf } from '../data/board/board-columns.ts';
import { finished, needsYou, type Placed, projects, running, shownProjects, waiting } from '../data/connection/live.ts';
import { type KeptRow, withKept } from '../data/issue/issue-rows.ts';
import { followLanded, landedChange } from '../data/issue/landed-changes.ts';
import { rowKey, useKeys } from '../data/page/keyboard.ts';
import { isNarrow } from '../data/page/narrow.ts';
import { placesInUse } from '../data/page/open-forms.ts';
import { linkTo, reviewHref } from '../data/page/router.ts';
import { countWords } from '../data/text/words.ts';
import { issueKeys } from '../parts/issue/issue-keys.ts';
import { Band } from '../parts/rows/band.tsx';
import { useMovingRows } from '../parts/rows/moving-rows.ts';
import { NeedsYouRow } from '../parts/rows/needs-you-row.tsx';
import { Row } from '../parts/rows/row.tsx';
import { RunningRow } from '../parts/rows/running-row.tsx';
import { ProjectControls, VitalsLine } from '../parts/rows/vitals-line.tsx';
import { WaitingRow } from '../parts/rows/waiting-row.tsx';
import { EmptyLine } from '../parts/shared/empty-line.tsx';
import { Icon } from '../parts/shared/icon.tsx';
import { ClockTime, Countdown } from '../parts/shared/time.tsx';
import { hint } from '../parts/shared/tooltip.tsx';

/** The current activity. Rows that need a person come first. The keys are those of `baton top`. */
export function NowScreen(): VNode {
  useKeys([
    ...issueKeys(rowKey, focusAnswer),
    { keys: 'p', label: 'pause or resume', part: 'pause', run: () => pressVital('pause', 'resume') },
    { keys: 'd', label: 'drain (twice)', part: 'drain', run: () => pressVital('drain') },
  ]);
  const box = useRef<HTMLDivElement>(null);
  useMovingRows(box);
  useEffect(followLanded, []);
  if (projects.value === null) {
    return (
      <div class="screen">
        <h1 tabIndex={-1}>Now</h1>
        <EmptyLine isAsking>Loading the current state.</EmptyLine>
      </div>
    );
  }
  const asked = byTime(
    withKept('needs_you', needsYou.value),
    ({ row }) => `${urgency.indexOf(row.kind)} ${row.since ?? ''}`,
  );
  const inUse = placesInUse();
  const asking = new Set(needsYou.value.flatMap(({ row }) => (row.kind === 'question' ? (row.run_id ?? []) : [])));
  // A run that asks is above, with its question; here only while the person types in its row.
  const active = byTime(
    withKept('running', running.value).filter(
      ({ placed, place }) => !asking.has(placed.row.run_id) || inUse.has(place),
    ),
    ({ row }) => row.started_at,
  );
  // Retries by their time, then the queue in the order in which it starts.
  const later = byTime(withKept('waiting', waiting.value), ({ row }) =>
    row.kind === 'queue' ? `9 ${rankOf(row.priority ?? null)}` : row.next_check_at,
  );
  const done = byTime(
    finished.value.map((placed) => ({ placed })),
    ({ row }) => row.at,
  ).reverse();
  return (
    <div class="screen now" ref={box}>
      <h1 tabIndex={-1} class="unseen">
        Now
      </h1>
      {shownProjects.value.map((rows) => (
        <VitalsLine key={rows.project} rows={rows} hasActions={!isNarrow.value} />
      ))}
      <Band
        part="needs_you"
        title="Needs you"
        count={needsYou.value.length}
        hasRows={asked.length > 0}
        empty="Nothing needs you."
      >
        {shownOf(asked).map((kept) => (
          <NeedsYouRow key={kept.place} {...kept} />
        ))}
        <More count={asked.length} path="/board" where="on the board" />
      </Band>
      {isNarrow.value && shownProjects.value.map((rows) => <ProjectControls key={rows.project} rows={rows} isNamed />)}
      <Band
        part="running"
        title="Running"
        count={active.length}
        empty={asking.size > 0 ? <AllAsk count={asking.size} /> : <NothingRuns />}
      >
        {active.map((kept) => (
          <RunningRow key={kept.place} {...kept} />
        ))}
      </Band>
      <Band
        part="waiting"
        title="Waiting"
        count={waiting.value.length}
        hasRows={later.length > 0}
        empty="Nothing is waiting."
      >
        {shownOf(later).map((kept) => (
          <WaitingRow key={kept.place} {...kept} />
        ))}
        <More count={later.length} path="/queue" where="in the queue" />
      </Band>
      <Band part="finished" title="Finished today" count={done.length} empty="Nothing has finished today yet.">
        {done.slice(0, mostShown).map(({ placed: { project, row } }) => (
          <Row
            key={`${project}/${row.key}`}
            project={project}
            row={row}
            tone="good"
            word={row.state}
            time={<ClockTime at={row.at} />}
            facts={<Landed project={project} issueId={row.issue_id} identifier={row.issue_identifier} />}
          />
        ))}
        <More count={done.length} path="/board" where="on the board" />
      </Band>
    </div>
  );
}

/** Goes to the first field of the question of the selected row, or of the first question. */
function focusAnswer(): void {
  const row = document.activeElement?.closest('[data-row-of]') ?? null;
  const form = row?.querySelector('.answer') ?? document.querySelector('.answer');
  form?.querySelector<HTMLElement>('input:checked, input, textarea, button')?.focus();
}

/** Presses the first of these buttons that the project has now. */
function pressVital(...parts: readonly string[]): void {
  const buttons = document.querySelectorAll<HTMLElement>('.controls button');
  const button = [...buttons].find(({ dataset: { part = '' } }) => parts.includes(part));
  button?.focus();
  button?.click();
}

/** A band is for a glance: thousands of rows would take seconds to draw, and people do not read them here. */
const mostShown = 50;

/** A row that the user types in is always shown, even beyond the limit. */
function shownOf<R>(rows: readonly KeptRow<R>[]): readonly KeptRow<R>[] {
  const inUse = placesInUse();
  return rows.filter(({ place }, index) => index < mostShown || inUse.has(place));
}

interface MoreProps {
  readonly count: number;
  readonly path: string;
  readonly where: string;
}

function More({ count, path, where }: MoreProps): VNode | null {
  if (count <= mostShown) return null;
  return (
    <li class="more">
      <a href={linkTo(path)}>
        Show {count - mostShown} more {where}
      </a>
    </li>
  );
}

/** Questions of waiting agents come first, then problems that stop everything. */
const urgency: readonly NeedsYou['kind'][] = [
  'question',
  'daemon',
  'workflow',
  'account',
  'limit',
  'held',
  'review',
  'proposal',
];

/** The earliest first; rows without a time come last. Patches come in any order, so rows are sorted here. */
function byTime<
  R extends { readonly key: string; readonly issue_identifier: string | null },
  K extends { readonly placed: Placed<R> },
>(rows: readonly (K & { readonly placed: Placed<R> })[], timeOf: (placed: Placed<R>) => string | null): K[] {
  const end = '9';
  return rows
    .map((row) => ({ row, name: nameOf(row.placed.row), at: timeOf(row.placed) ?? end }))
    .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.name.localeCompare(b.name, 'en', { numeric: true })))
    .map(({ row }) => row);
}

/** Rows with the same time are in the order of their issue numbers. */
function nameOf({
  issue_identifier: identifier,
  key,
}: {
  readonly issue_identifier: string | null;
  readonly key: string;
}): string {
  return `${identifier ?? ''} ${key}`;
}

/** No agent works, but some wait for the person. */
function AllAsk({ count }: { readonly count: number }): VNode {
  return <>No agent is working. {countWords(count, 'agent waits', 'agents wait')} for your answer.</>;
}

interface LandedProps {
  readonly project: string;
  readonly issueId: string;
  readonly identifier: string;
}

/** The size of a change, as a link to it. */
function Landed({ project, issueId, identifier }: LandedProps): VNode | null {
  const change = landedChange(project, issueId);
  if (change === null) return null;
  const { pull, size } = change;
  const words = size === null ? 'Change' : `+${size.added} −${size.removed}`;
  return (
    <a
      class="landed"
      data-part="change"
      href={reviewHref(project, String(pull))}
      aria-label={`The change of ${harmlessLine(identifier)}: ${words}`}
      {...hint('Open the change: its diff, its checks and who merged it')}
    >
      <Icon name="change" />
      {size === null ? (
        words
      ) : (
        <>
          <span class="added">+{size.added}</span> <span class="removed">−{size.removed}</span>
        </>
      )}
    </a>
  );
}

/** Nothing runs: how many agents could, and when Baton polls next. */
function NothingRuns(): VNode {
  const all = shownProjects.value;
  const paused = all.find(({ vitals }) => vitals.paused !== null);
  if (paused !== undefined && all.length === 1)
    return <>No agent is running, and nothing new starts while the project is paused.</>;
  const free = all.reduce((sum, { vitals }) => sum + freeSlots(vitals.slots), 0);
  const next = all.flatMap(({ vitals }) => vitals.polling.next_poll_at ?? []).sort()[0] ?? null;
  return (
    <>
      No agent is running. {countWords(free, 'slot is', 'slots are')} free
      {next !== null && (
        <>
          ; the next poll is <Countdown at={next} />
        </>
      )}
      .
    </>
  );
}
