import { batch, type ReadonlySignal, signal } from '@preact/signals';
import type { RunEvent } from '../../../src/client/schema/run.ts';
import { cutEvents, mergeEvents } from './transcript-merge.ts';

/**
 * A part of the events of a run, without a gap, that grows at both ends. What must hold:
 *
 * - The stream reports the number of the newest event when it connects and with every event. The log reads pages until it has
 *   all events up to that number. One page may not be enough: an event is sent before it is written, and the delay varies.
 * - It is bounded: where it grows at one end beyond `most`, it gets shorter at the other, and can be read again there.
 * - One answer at a time is waited for, so that pages come in their order.
 */
export interface TranscriptLog<P> {
  readonly events: ReadonlySignal<readonly RunEvent[]>;
  readonly hasEarlier: ReadonlySignal<boolean>;
  readonly hasLater: ReadonlySignal<boolean>;
  readonly isReading: ReadonlySignal<boolean>;
  /** Why the last page could not be read. */
  readonly problem: ReadonlySignal<P | null>;
  readonly readEarlier: () => Promise<void>;
  readonly readLater: () => Promise<void>;
  /** Drops all events and begins elsewhere. */
  readonly openAt: (start: LogStart) => Promise<void>;
  readonly close: () => void;
}

/** The end, or the events after a number. */
export type LogStart = 'end' | number;

export interface EventPage {
  readonly events: readonly RunEvent[];
  readonly after: number;
  readonly has_more: boolean;
}

/** Where the events come from. */
export interface EventSource<P> {
  readonly page: (
    query: { readonly after?: number; readonly isBackwards?: boolean },
    signal: AbortSignal,
  ) => Promise<{ readonly value: EventPage } | { readonly problem: P }>;
  /** Reports events as they happen, and each time it connects; null for a run that has ended. */
  readonly listen: ((listener: LogListener) => () => void) | null;
  /** Calls after this time; the returned function cancels it. */
  readonly later: (ms: number, act: () => void) => () => void;
  /** Whether a page has more of an event than the stream sends. */
  readonly isWhole: boolean;
}

export interface LogListener {
  /** The number of the newest event of the run is `upTo`; `more` may be none, and need not begin where the last ones ended. */
  readonly events: (more: readonly RunEvent[], upTo: number) => void;
  readonly connected: () => void;
}

interface LogParts<P> {
  readonly source: EventSource<P>;
  readonly start: LogStart;
  readonly most: number;
}

/** Events further away than this many pages are skipped: the end is what counts. */
const mostPages = 10;

/**
 * Most events are written this long after they were sent. While reads bring nothing, they become less frequent. Events that are
 * still missing after `mostFruitless` such reads were lost, or are more than the store keeps of a run.
 */
const firstWaitMs = 600;
const longestWaitMs = 10_000;
const mostFruitless = 8;

export function openTranscript<P>({ source, start, most }: LogParts<P>): TranscriptLog<P> {
  const events = signal<readonly RunEvent[]>([]);
  const [hasEarlier, hasLater, isReading] = [signal(false), signal(false), signal(false)];
  const problem = signal<P | null>(null);
  const closed = new AbortController();
  let waiting: Promise<void> = Promise.resolve();
  let inLine = 0;
  /** Events of the stream up to this number are known whole too. */
  let wholeUpTo = 0;
  /** The number of the newest event that the stream reported. */
  let announcedUpTo = 0;
  let fruitless = 0;
  let cancelCatchUp: (() => void) | null = null;

  const inTurn = (act: () => Promise<void>): Promise<void> => {
    inLine += 1;
    isReading.value = true;
    waiting = waiting.then(async () => {
      if (!closed.signal.aborted) await act();
      inLine -= 1;
      isReading.value = inLine > 0;
      if (inLine === 0 && isBehind()) catchUpSoon();
    });
    return waiting;
  };
  const ask = async (query: Parameters<EventSource<P>['page']>[0], take: (page: EventPage) => void): Promise<void> => {
    const answer = await source.page(query, closed.signal);
    if (closed.signal.aborted) return;
    batch(() => {
      problem.value = 'problem' in answer ? answer.problem : null;
      if ('value' in answer) take(answer.value);
    });
  };
  const put = (more: readonly RunEvent[], grows: 'first' | 'last'): void => {
    const merged = mergeEvents(events.peek(), more);
    const kept = cutEvents(merged, most, grows);
    events.value = kept;
    if (kept.length === merged.length) return;
    if (grows === 'first') hasLater.value = true;
    else hasEarlier.value = true;
  };
  const lastSeq = (): number => events.peek().at(-1)?.seq ?? 0;
  const knownUpTo = (): number => (source.isWhole ? Math.min(wholeUpTo, lastSeq()) : lastSeq());
  /** Where the person reads somewhere else, nothing is missing at the end. */
  const isBehind = (): boolean => !hasLater.peek() && knownUpTo() < announcedUpTo;

  const forwards = (after: number): Promise<void> =>
    ask({ after }, (answer) => {
      hasLater.value = answer.has_more;
      wholeUpTo = Math.max(wholeUpTo, answer.after);
      put(answer.events, 'last');
    });
  const open = (from: LogStart): Promise<void> =>
    ask(from === 'end' ? { isBackwards: true } : { after: from }, (answer) => {
      wholeUpTo = answer.events.at(-1)?.seq ?? 0;
      hasEarlier.value = from === 'end' ? answer.has_more : from > 0;
      hasLater.value = from !== 'end' && answer.has_more;
      events.value = answer.events;
    });
  /** Reads the events missed while disconnected, to the end; but not where the person reads somewhere else. */
  const readOn = async (): Promise<void> => {
    if (events.peek().length === 0) return open(start);
    if (hasLater.peek()) return;
    for (let pages = 0; pages < mostPages; pages += 1) {
      await forwards(knownUpTo());
      if (!hasLater.peek() || problem.peek() !== null || closed.signal.aborted) return;
    }
    await open('end');
  };
  const catchUp = (): Promise<void> =>
    inTurn(async () => {
      const before = knownUpTo();
      await readOn();
      fruitless = knownUpTo() > before ? 0 : fruitless + 1;
    });
  const catchUpSoon = (): void => {
    if (closed.signal.aborted || fruitless >= mostFruitless) return;
    cancelCatchUp ??= source.later(Math.min(firstWaitMs * 2 ** fruitless, longestWaitMs), () => {
      cancelCatchUp = null;
      void catchUp();
    });
  };
  const takeLive = (more: readonly RunEvent[], upTo: number): void => {
    if (!isBehind()) fruitless = 0;
    announcedUpTo = Math.max(announcedUpTo, upTo);
    // A page under way may not connect to these events; missing ones are read after it.
    if (isReading.peek()) return;
    const first = more[0]?.seq;
    if (first !== undefined && !hasLater.peek() && first <= lastSeq() + 1) put(more, 'last');
    if (isBehind()) catchUpSoon();
  };

  const openAt = (from: LogStart): Promise<void> => inTurn(() => open(from));
  void openAt(start);
  const connected = (): void => {
    fruitless = 0;
    catchUpSoon();
  };
  const unlisten = source.listen?.({ events: takeLive, connected });
  return {
    events,
    hasEarlier,
    hasLater,
    isReading,
    problem,
    openAt,
    readEarlier: () =>
      inTurn(async () => {
        const first = events.peek()[0]?.seq;
        if (first === undefined || !hasEarlier.peek()) return;
        await ask({ isBackwards: true, after: first }, ({ events: more, has_more }) => {
          hasEarlier.value = has_more;
          put(more, 'first');
        });
      }),
    readLater: () => inTurn(() => forwards(lastSeq())),
    close: () => {
      closed.abort();
      cancelCatchUp?.();
      unlisten?.();
    },
  };
}
