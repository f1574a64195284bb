import type { Run, Span } from '../../../src/client/schema/run.ts';
import { stopwatchWords } from '../text/words.ts';

/** A bar of the waterfall, in percent of the axis. */
export interface Bar {
  readonly kind: Span['kind'] | 'run';
  readonly name: string;
  readonly left: number;
  readonly width: number;
  readonly isOk: boolean | null;
  readonly isOpen: boolean;
  readonly ms: number;
}

type Lasting = Pick<Run, 'started_at' | 'ended_at'>;

/** How long a run has lasted, in milliseconds; a clock that went back counts as no time. */
export function lastedMs({ started_at, ended_at }: Lasting, nowMs: number): number {
  const end = ended_at === null ? nowMs : Date.parse(ended_at);
  return Math.max(0, end - Date.parse(started_at));
}

const minute = 60_000;
const hour = 60 * minute;
const steps: readonly number[] = [
  ...[1_000, 2_000, 5_000, 10_000, 15_000, 30_000],
  ...[minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute],
  ...[hour, 2 * hour, 4 * hour, 8 * hour, 24 * hour],
];
const mostTicks = 6;
const shortestAxisMs = 5_000;

export interface Axis {
  readonly ms: number;
  readonly ticks: readonly number[];
}

/** The axis for runs whose longest lasted `longestMs`: from zero to a little more, with a few round marks. */
export function axisFor(longestMs: number): Axis {
  const ms = Math.max(shortestAxisMs, longestMs);
  const longest = steps.at(-1) ?? 1;
  const step = steps.find((each) => ms / each <= mostTicks) ?? Math.ceil(ms / mostTicks / longest) * longest;
  return { ms, ticks: Array.from({ length: Math.floor(ms / step) + 1 }, (_, index) => index * step) };
}

/** A mark beyond this share of the axis has no space for words. */
const wordsEnd = 0.9;

/** The label of a mark: the time since the run began, as exact as the marks are. */
export function tickWords({ ms }: Axis, at: number): string {
  if (at === 0) return 'start';
  return at / ms > wordsEnd ? '' : stopwatchWords(at);
}

/**
 * The bars of a run on an axis that begins with the run. An unfinished span ends now; no bar exceeds the run's own end.
 */
export function barsOf(run: Lasting, spans: readonly Span[], axis: Axis, nowMs: number): readonly Bar[] {
  const start = Date.parse(run.started_at);
  const whole = lastedMs(run, nowMs);
  const percent = (ms: number): number => Math.min(100, (ms / axis.ms) * 100);
  const bar = (kind: Bar['kind'], name: string, span: Lasting, isOk: boolean | null): Bar => {
    const from = within(Date.parse(span.started_at) - start, whole);
    const to = span.ended_at === null ? whole : within(Date.parse(span.ended_at) - start, whole);
    const ms = Math.max(0, to - from);
    const isOpen = span.ended_at === null && run.ended_at === null;
    return { kind, name, left: percent(from), width: percent(from + ms) - percent(from), isOk, isOpen, ms };
  };
  return [bar('run', '', run, null), ...spans.map((span) => bar(span.kind, span.name, span, span.is_ok))];
}

function within(ms: number, most: number): number {
  return Number.isNaN(ms) ? 0 : Math.min(most, Math.max(0, ms));
}
