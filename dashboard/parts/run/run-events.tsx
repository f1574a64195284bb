import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import type { RunEvent } from '../../../src/client/schema/run.ts';
import { linkTo, place, queryWord, setQuery } from '../../data/page/router.ts';
import { type RunLog, useRunLog } from '../../data/run/run-log.ts';
import { type EventKind, eventKinds, viewOf } from '../../data/run/transcript-kinds.ts';
import { countWords } from '../../data/text/words.ts';
import { ProblemLine } from '../shared/problem-line.tsx';
import { Text } from '../shared/text.tsx';
import { TypedFilter } from '../shared/typed-filter.tsx';
import { VirtualList } from '../shared/virtual-list.tsx';
import { DownloadLog } from './download-log.tsx';
import { RunEventDetail } from './run-event-detail.tsx';
import { useRunScroll } from './run-scroll.ts';
import { kindWords, SecondTime } from './transcript-entry.tsx';
import { hasText } from './transcript-search.tsx';

interface RunEventsProps {
  readonly project: string;
  readonly runId: string;
  readonly isLive: boolean;
}

const rowHeight = 28;
/** The list has space for this many rows, also when it has fewer. */
const leastRows = 4;
/** No run has more events in the store. */
const most = 60_000;
const mostPages = 60;
/** How many events before the one that the address names are read with it. */
const around = 100;

/** Every event of a run, the oldest first; a chosen one is shown whole next to them. */
export function RunEvents({ project, runId, isLive }: RunEventsProps): VNode {
  const seq = Number(queryWord('seq')) || null;
  const start = seq !== null ? Math.max(0, seq - around) : isLive ? 'end' : 0;
  const log = useRunLog({ project, runId, isLive, start, isWhole: false, most });
  const follows = useSignal(isLive && seq === null);
  const box = useRef<HTMLDivElement>(null);
  const kind = queryWord('kind');
  const wanted = queryWord('q').trim().toLowerCase();
  const all = log.events.value;
  const rows = useMemo(() => chosen(all, kind, wanted), [all, kind, wanted]);
  useRunScroll({ box, rows, follows, seq, rowHeight, onTopNear: () => readBack(log) });
  const readOn = (): void => {
    if (log.hasLater.peek() && !log.isReading.peek() && log.problem.peek() === null) void log.readLater();
  };
  const follow = async (): Promise<void> => {
    if (!follows.peek() && log.hasLater.peek()) await log.openAt('end');
    follows.value = !follows.peek();
  };
  return (
    <section class="run-events" aria-label="Events">
      <div class="log-tools">
        <search>
          <TypedFilter name="q" label="Search the events" placeholder="Search the events" />
        </search>
        <select
          aria-label="Kind of event"
          value={kind}
          onChange={({ currentTarget }) => setQuery({ kind: currentTarget.value })}
        >
          <option value="">All kinds</option>
          {eventKinds.map((each) => (
            <option key={each} value={each}>
              {kindWords[each]}
            </option>
          ))}
        </select>
        {(log.hasEarlier.value || log.hasLater.value) && (
          <button type="button" onClick={() => void readAll(log)}>
            Load all
          </button>
        )}
        {(isLive || log.hasLater.value) && (
          <button
            type="button"
            aria-pressed={follows.value}
            class={follows.value ? 'main' : ''}
            onClick={() => void follow()}
          >
            {follows.value ? 'Following' : isLive ? 'Follow' : 'Go to the end'}
          </button>
        )}
        <span class="quiet-text">{sumWords(log, rows.length)}</span>
        <DownloadLog project={project} runId={runId} />
      </div>
      {log.problem.value !== null && <ProblemLine problem={log.problem.value} />}
      <div class={seq === null ? 'events-split' : 'events-split chosen'}>
        <div class="events-list" ref={box} style={{ '--rows': Math.max(rows.length, leastRows) }}>
          <VirtualList
            rows={rows}
            keyOf={keyOf}
            rowHeight={rowHeight}
            label="Events, the oldest first"
            onEndNear={readOn}
            render={(event, isTabStop) => (
              <EventLine event={event} isTabStop={isTabStop} isChosen={event.seq === seq} />
            )}
          />
          {rows.length === 0 && !log.isReading.value && (
            <p class="empty">{all.length === 0 ? 'No events yet.' : 'No loaded event matches the filter.'}</p>
          )}
        </div>
        {seq !== null && <RunEventDetail project={project} runId={runId} seq={seq} />}
      </div>
    </section>
  );
}

function readBack(log: RunLog): void {
  if (log.hasEarlier.peek() && !log.isReading.peek()) void log.readEarlier();
}

/** Reads all events, so that a search covers all of them; at most `mostPages` pages. */
async function readAll(log: RunLog): Promise<void> {
  for (let pages = 0; pages < mostPages && log.problem.peek() === null; pages += 1) {
    if (log.hasEarlier.peek()) await log.readEarlier();
    else if (log.hasLater.peek()) await log.readLater();
    else return;
  }
}

function keyOf({ seq }: RunEvent): string {
  return String(seq);
}

function chosen(all: readonly RunEvent[], kind: string, wanted: string): readonly RunEvent[] {
  if (kind === '' && wanted === '') return all;
  return all.filter(
    (event) => (kind === '' || viewOf(event).kind === kind) && (wanted === '' || hasText(event, wanted)),
  );
}

function sumWords({ events, hasEarlier, hasLater }: RunLog, shown: number): string {
  const read = countWords(events.value.length, 'event', 'events');
  const part = hasEarlier.value || hasLater.value ? `${read} loaded, there are more` : read;
  return shown === events.value.length ? part : `${shown} of ${part}`;
}

interface EventLineProps {
  readonly event: RunEvent;
  readonly isTabStop: boolean;
  readonly isChosen: boolean;
}

function EventLine({ event, isTabStop, isChosen }: EventLineProps): VNode {
  const { kind, text, isBad } = viewOf(event);
  const others = Object.fromEntries(place.value.query);
  return (
    <a
      class={`event-line ${kind}${isBad ? ' bad' : ''}`}
      href={linkTo(place.value.path, { ...others, seq: String(event.seq) })}
      aria-current={isChosen ? 'true' : undefined}
      tabIndex={isTabStop ? 0 : -1}
      data-row
    >
      <span class="number seq">{event.seq}</span>
      <SecondTime at={event.at} />
      <span class="kind">{kindName(kind, isBad)}</span>
      <span class="message">
        <Text text={kind === 'turn' ? text : event.message} />
      </span>
    </a>
  );
}

function kindName(kind: EventKind, isBad: boolean): string {
  return isBad ? `${kindWords[kind]} ✕` : kindWords[kind];
}
