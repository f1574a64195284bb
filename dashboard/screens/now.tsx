import type { VNode } from 'preact';
import type { NeedsYou } from '../../src/client/schema/now.ts';
import { finished, needsYou, type Placed, projects, running, shownProjects, waiting } from '../data/connection/live.ts';
import { type KeptRow, withKept } from '../data/issue/issue-rows.ts';
import { placesInUse } from '../data/page/open-forms.ts';
import { linkTo } from '../data/page/router.ts';
import { countWords } from '../data/text/words.ts';
import { Band } from '../parts/rows/band.tsx';
import { NeedsYouRow } from '../parts/rows/needs-you-row.tsx';
import { Row } from '../parts/rows/row.tsx';
import { RunningRow } from '../parts/rows/running-row.tsx';
import { VitalsLine } from '../parts/rows/vitals-line.tsx';
import { WaitingRow } from '../parts/rows/waiting-row.tsx';
import { EmptyLine } from '../parts/shared/empty-line.tsx';
import { ClockTime, Countdown } from '../parts/shared/time.tsx';

/** The current activity. Rows that need a person come first. */
export function NowScreen(): VNode {
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
  const active = byTime(withKept('running', running.value), ({ row }) => row.started_at);
  const later = byTime(withKept('waiting', waiting.value), ({ row }) => row.next_check_at);
  const done = byTime(
    finished.value.map((placed) => ({ placed })),
    ({ row }) => row.at,
  ).reverse();
  return (
    <div class="screen now">
      <h1 tabIndex={-1} class="unseen">
        Now
      </h1>
      {shownProjects.value.map((rows) => (
        <VitalsLine key={rows.project} rows={rows} />
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
      <Band
        part="running"
        title="Running"
        count={running.value.length}
        hasRows={active.length > 0}
        empty={<NothingRuns />}
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
          />
        ))}
        <More count={done.length} path="/board" where="on the board" />
      </Band>
    </div>
  );
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
const urgency: readonly NeedsYou['kind'][] = ['question', 'daemon', 'workflow', 'account', 'limit', 'held', 'review'];

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

/** Nothing runs: how many agents could, and when Baton polls next. */
function NothingRuns(): VNode {
  const all = shownProjects.value;
  const paused = all.find(({ vitals }) => vitals.paused !== null);
  if (paused !== undefined && all.length === 1)
    return <>No agent is running, and nothing new starts while the project is paused.</>;
  const free = all.reduce((sum, { vitals }) => sum + vitals.slots.limit - vitals.slots.used, 0);
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
