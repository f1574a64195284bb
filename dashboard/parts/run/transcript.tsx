import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { RunEvent } from '../../../src/client/schema/run.ts';
import { eventHref, queryWord, setQuery } from '../../data/page/router.ts';
import { type RunLog, useRunLog } from '../../data/run/run-log.ts';
import { viewOf } from '../../data/run/transcript-kinds.ts';
import { EmptyLine } from '../shared/empty-line.tsx';
import { ProblemLine } from '../shared/problem-line.tsx';
import { DownloadLog } from './download-log.tsx';
import { TranscriptEntry } from './transcript-entry.tsx';
import { useStayInPlace } from './transcript-scroll.ts';
import { hasText, TranscriptSearch } from './transcript-search.tsx';

interface TranscriptProps {
  readonly project: string;
  readonly runId: string;
  readonly isLive: boolean;
}

/** How many events are kept: a page of them is drawn without delay, and dropped ones can be read again. */
const most = 3_000;
const pagesASearch = 10;
/** This near to the top, earlier events are read. */
const nearTopPx = 300;

/** The actions of a run's agent, the newest at the bottom; live while it runs. Give it a key that names the run. */
export function Transcript({ project, runId, isLive }: TranscriptProps): VNode {
  const log = useRunLog({ project, runId, isLive, start: 'end', isWhole: true, most });
  const follows = useSignal(isLive);
  const current = useSignal(-1);
  const box = useRef<HTMLElement>(null);
  const { onScroll } = useStayInPlace(box, follows);
  const vnodes = useMemo(() => new WeakMap<RunEvent, VNode>(), []);
  const isAll = queryWord('all') === '1';
  const wanted = queryWord('q').trim().toLowerCase();
  const shown = isAll ? log.events.value : readable(log.events.value);
  const searched = useMemo(() => new WeakMap<RunEvent, boolean>(), [wanted]);
  const found = wanted === '' ? [] : shown.filter((event) => isFound(event, wanted, searched));
  const places = new Set(found.map(({ seq }) => seq));
  const at = found[current.value]?.seq ?? null;
  const step = (by: 1 | -1): void => {
    if (found.length === 0) return;
    // Starts at the newest hit, because the reader is at the end.
    const next = current.peek() === -1 ? found.length - 1 : (current.peek() + by + found.length) % found.length;
    current.value = next;
    follows.value = false;
    box.current?.querySelector(`[data-seq="${found[next]?.seq}"]`)?.scrollIntoView({ block: 'center' });
  };
  useEffect(() => {
    current.value = -1;
  }, [current, wanted]);
  const furtherBack = async (): Promise<void> => {
    follows.value = false;
    for (let pages = 0; pages < pagesASearch && log.hasEarlier.peek() && log.problem.peek() === null; pages += 1)
      await log.readEarlier();
  };
  const entry = (event: RunEvent): VNode => {
    if (places.has(event.seq))
      return (
        <TranscriptEntry
          key={event.seq}
          event={event}
          href={eventHref(project, runId, event.seq)}
          mark={event.seq === at ? 'current' : 'found'}
        />
      );
    // Preact skips an element that is the same object: of thousands only new ones cost anything.
    const drawn = vnodes.get(event) ?? (
      <TranscriptEntry key={event.seq} event={event} href={eventHref(project, runId, event.seq)} />
    );
    vnodes.set(event, drawn);
    return drawn;
  };
  const isEmpty = log.events.value.length === 0;
  return (
    <section class="transcript" aria-label="Transcript">
      <div class="log-tools">
        <TranscriptSearch
          label="Search the transcript"
          wanted={wanted}
          found={found.length}
          current={current.value}
          onStep={step}
          onFurther={log.hasEarlier.value ? () => void furtherBack() : null}
        />
        <label class="choice">
          <input type="checkbox" checked={isAll} onChange={() => setQuery({ all: isAll ? null : '1' })} />
          Show everything
        </label>
        {(isLive || log.hasLater.value) && (
          <FollowButton
            log={log}
            follows={follows.value}
            onFollow={(on) => {
              follows.value = on;
              if (on) box.current?.scrollTo(0, box.current.scrollHeight);
            }}
          />
        )}
        <DownloadLog project={project} runId={runId} />
      </div>
      {log.problem.value !== null && <ProblemLine problem={log.problem.value} />}
      <section
        class="log"
        ref={box}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it.
        tabIndex={0}
        aria-label="Events, the newest at the bottom"
        onScroll={() => {
          onScroll();
          if ((box.current?.scrollTop ?? nearTopPx) < nearTopPx && !log.isReading.peek()) void log.readEarlier();
        }}
      >
        <Beginning log={log} />
        <ol>{shown.map((event) => entry(event))}</ol>
        {isEmpty && !log.isReading.value && (
          <p class="empty">{isLive ? 'No events yet.' : 'No events were recorded for this run.'}</p>
        )}
      </section>
    </section>
  );
}

/** A search reads each event only once, even when more events arrive. */
function isFound(event: RunEvent, wanted: string, searched: WeakMap<RunEvent, boolean>): boolean {
  const isIt = searched.get(event) ?? hasText(event, wanted);
  searched.set(event, isIt);
  return isIt;
}

/** Partial text is shown only until the whole text arrives. */
function readable(events: readonly RunEvent[]): readonly RunEvent[] {
  const lastWhole = events.findLastIndex((event) => !isAside(event));
  return events.filter((event, index) => !isAside(event) || (index > lastWhole && viewOf(event).kind === 'piece'));
}

function isAside(event: RunEvent): boolean {
  const { kind } = viewOf(event);
  // The steps of the run show its stages.
  return kind === 'figures' || kind === 'piece' || event.event === 'stage_changed';
}

function Beginning({ log }: { readonly log: RunLog }): VNode | null {
  if (log.isReading.value && log.events.value.length === 0)
    return <EmptyLine isAsking>Loading the transcript.</EmptyLine>;
  if (!log.hasEarlier.value)
    return log.events.value.length === 0 ? null : <p class="quiet-text begin">Start of the run.</p>;
  return (
    <button type="button" class="quiet begin" onClick={() => void log.readEarlier()}>
      Load events before these {log.events.value.length}
    </button>
  );
}

function FollowButton({
  log,
  follows,
  onFollow,
}: {
  readonly log: RunLog;
  readonly follows: boolean;
  readonly onFollow: (on: boolean) => void;
}): VNode {
  return (
    <button
      type="button"
      data-part="follow"
      aria-pressed={follows}
      class={follows ? 'main' : ''}
      onClick={async () => {
        if (!follows && log.hasLater.peek()) await log.openAt('end');
        onFollow(!follows);
      }}
    >
      {follows ? 'Following' : 'Follow'}
    </button>
  );
}
