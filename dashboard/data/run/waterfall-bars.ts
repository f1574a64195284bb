import type { Run, Span } from '../../../src/client/schema/run.ts';

/** A bar of a run, in percent of the run's own time. */
export interface Bar {
  readonly kind: Span['kind'];
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

/** One bar for each span. An unfinished span ends now; no bar exceeds the run's own end. */
export function barsOf(run: Lasting, spans: readonly Span[], nowMs: number): readonly Bar[] {
  const start = Date.parse(run.started_at);
  const whole = lastedMs(run, nowMs);
  const percent = (ms: number): number => (whole === 0 ? 0 : (ms / whole) * 100);
  return spans.map(({ kind, name, started_at, ended_at, is_ok }) => {
    const from = within(Date.parse(started_at) - start, whole);
    const to = ended_at === null ? whole : within(Date.parse(ended_at) - start, whole);
    const ms = Math.max(0, to - from);
    const isOpen = ended_at === null && run.ended_at === null;
    return { kind, name, left: percent(from), width: percent(ms), isOk: is_ok, isOpen, ms };
  });
}

function within(ms: number, most: number): number {
  return Number.isNaN(ms) ? 0 : Math.min(most, Math.max(0, ms));
}
