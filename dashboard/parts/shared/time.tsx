import { useComputed, useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { now } from '../../data/page/clock.ts';
import { clockWords, durationWords, stopwatchWords } from '../../data/text/words.ts';

interface Instant {
  /** As the API returns it; null where it is unknown. */
  readonly at: string | null;
}

/** How long ago: `3 min ago`. */
export function TimeAgo({ at }: Instant): VNode {
  return <Ticking at={at} words={(ms) => (ms < 1_000 ? 'now' : `${durationWords(ms)} ago`)} />;
}

/** How old something is, without words around it: `3 min`. */
export function Age({ at, label }: Instant & { readonly label: string }): VNode | null {
  if (at === null) return null;
  return (
    <span class="age">
      <span class="unseen">{label} </span>
      <Ticking at={at} words={durationWords} />
      <span class="unseen"> ago</span>
    </span>
  );
}

/** The time that is left: `in 42 s`. A past time is `due`. */
export function Countdown({ at }: Instant): VNode {
  return <Ticking at={at} words={(ms) => (ms >= 0 ? 'due' : `in ${durationWords(-ms + 999)}`)} />;
}

/** How long it has lasted, `3:12`; with an end, how long it did. */
export function Duration({ from, to = null }: { readonly from: string | null; readonly to?: string | null }): VNode {
  if (from === null) return <span class="none">–</span>;
  if (to !== null) return <span class="number">{stopwatchWords(Date.parse(to) - Date.parse(from))}</span>;
  return <Ticking at={from} words={stopwatchWords} />;
}

/** The time of the day, or of another day the date: for columns of a table. */
export function ClockTime({ at }: Instant): VNode {
  if (at === null) return <span class="none">–</span>;
  const date = new Date(at);
  const isToday = date.toDateString() === new Date(now.peek()).toDateString();
  const day = date.toLocaleDateString([], { month: 'short', day: 'numeric' });
  return (
    <time dateTime={at} title={date.toLocaleString()} class="number">
      {isToday ? clockWords(date.getTime()) : `${day}, ${clockWords(date.getTime())}`}
    </time>
  );
}

function Ticking({ at, words }: Instant & { readonly words: (sinceMs: number) => string }): VNode {
  const current = useSignal(at);
  current.value = at;
  const text = useComputed(() => (current.value === null ? '–' : words(now.value - Date.parse(current.value))));
  if (at === null) return <span class="none">–</span>;
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()} class="number">
      {text}
    </time>
  );
}
