import type { Run } from '../../../src/client/schema/run.ts';
import { lastedMs } from './waterfall-bars.ts';

/** A part of the axis, in percent of it. */
export interface AxisPart {
  readonly left: number;
  readonly width: number;
  readonly ms: number;
}

/** A time in which no run was in progress. */
export interface Wait extends AxisPart {
  /** It is drawn shorter than it was, because the runs would be too small to see. */
  readonly isShortened: boolean;
}

/**
 * All runs of an issue on one time axis. What must hold:
 *
 * - Times in which a run was in progress have the same scale everywhere, so that runs compare.
 * - All waits together take at most half of the axis; a longer one is shortened and marked.
 * - No part exceeds the axis, whatever the clocks said.
 */
export interface TimeAxis {
  /** By `run_id`: the run, and the wait before it; null where it did not wait. */
  readonly runs: ReadonlyMap<string, { readonly part: AxisPart; readonly wait: Wait | null }>;
  /** The wait that began when the last run ended; null if the issue does not wait. */
  readonly now: Wait | null;
  /** The starts of runs that have space for a label. */
  readonly marks: readonly { readonly left: number; readonly at: string }[];
}

type TimedRun = Pick<Run, 'run_id' | 'started_at' | 'ended_at'>;

interface Busy {
  readonly from: number;
  to: number;
}

/** Together the waits are at most this share of the busy time. */
const mostWaiting = 1;
/** The least distance of two labels, in percent. */
const markSpace = 13;
const lastMark = 88;
/** The end of the axis moves in steps while something lasts, so that it does not move each second. */
const stepMs = 15_000;

export function timeAxis(runs: readonly TimedRun[], nowMs: number, isWaiting: boolean): TimeAxis {
  const ordered = runs.toSorted((a, b) => Date.parse(a.started_at) - Date.parse(b.started_at));
  const isLive = ordered.some(({ ended_at }) => ended_at === null);
  const busy = busyTimes(ordered, isLive ? later(nowMs, ordered) : nowMs);
  const lastEnd = busy.at(-1)?.to ?? 0;
  const waitsNow = isWaiting && !isLive && nowMs > lastEnd && busy.length > 0;
  const gaps = [
    ...busy.slice(1).map(({ from }, index) => ({ from: busy[index]?.to ?? from, to: from })),
    ...(waitsNow ? [{ from: lastEnd, to: later(nowMs, ordered) }] : []),
  ];
  const worked = Math.max(
    1_000,
    busy.reduce((sum, { from, to }) => sum + to - from, 0),
  );
  const cap = gaps.length === 0 ? 0 : (mostWaiting * worked) / gaps.length;
  const shown = gaps.map(({ from, to }) => Math.min(cap, to - from));
  const first = busy[0]?.from ?? 0;
  const end = Math.max(lastEnd, gaps.at(-1)?.to ?? 0);
  /** The place of a time: everything before it, with each wait as long as it is shown. */
  const placeOf = (time: number): number => {
    let place = Math.min(Math.max(time, first), end) - first;
    for (const [index, { from, to }] of gaps.entries()) {
      if (time <= from) break;
      const passed = Math.min(time, to) - from;
      place -= passed * (1 - (shown[index] ?? 0) / Math.max(1, to - from));
    }
    return place;
  };
  const whole = Math.max(1_000, placeOf(end));
  const partOf = (from: number, to: number): AxisPart => {
    const left = (placeOf(from) / whole) * 100;
    return { left, width: Math.max(0, (placeOf(to) / whole) * 100 - left), ms: Math.max(0, to - from) };
  };
  const waitOf = (gap: (typeof gaps)[number] | undefined, until: number): Wait | null =>
    gap === undefined || gap.to <= gap.from
      ? null
      : { ...partOf(gap.from, gap.to), ms: until - gap.from, isShortened: gap.to - gap.from > cap };
  const parts = ordered.map((run): [string, { part: AxisPart; wait: Wait | null }] => {
    const from = Date.parse(run.started_at);
    const gap = gaps.find(({ to }) => to === from);
    return [run.run_id, { part: partOf(from, from + lastedMs(run, nowMs)), wait: waitOf(gap, from) }];
  });
  return {
    runs: new Map(parts),
    now: waitsNow ? waitOf(gaps.at(-1), nowMs) : null,
    marks: marksOf(
      ordered.map(({ run_id, started_at }) => ({ at: started_at, left: new Map(parts).get(run_id)?.part.left ?? 0 })),
    ),
  };
}

/** The next step of the end, from the first start on. */
function later(nowMs: number, ordered: readonly TimedRun[]): number {
  const first = Date.parse(ordered[0]?.started_at ?? '');
  return first + Math.ceil(Math.max(0, nowMs - first) / stepMs) * stepMs;
}

/** The times in which a run was in progress, without overlaps. */
function busyTimes(ordered: readonly TimedRun[], nowMs: number): readonly Busy[] {
  const busy: Busy[] = [];
  for (const run of ordered) {
    const from = Date.parse(run.started_at);
    const to = from + lastedMs(run, nowMs);
    const last = busy.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else busy.push({ from, to });
  }
  return busy;
}

function marksOf(starts: TimeAxis['marks']): TimeAxis['marks'] {
  const marks: { readonly left: number; readonly at: string }[] = [];
  for (const mark of starts)
    if (mark.left <= lastMark && mark.left - (marks.at(-1)?.left ?? -markSpace) >= markSpace) marks.push(mark);
  return marks;
}
