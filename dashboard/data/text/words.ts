/** Times and amounts in words, short enough for a column. */

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** `8 s`, `3 min`, `2 h 05`, `4 d 3 h`. */
export function durationWords(ms: number): string {
  const rest = Math.max(0, ms);
  if (rest < minute) return `${Math.floor(rest / second)} s`;
  if (rest < hour) return `${Math.floor(rest / minute)} min`;
  if (rest < day) return `${Math.floor(rest / hour)} h ${pad(Math.floor((rest % hour) / minute))}`;
  return `${Math.floor(rest / day)} d ${Math.floor((rest % day) / hour)} h`;
}

/** As on a stopwatch: `0:08`, `3:12`, `2:05:00`. For things in progress. */
export function stopwatchWords(ms: number): string {
  const all = Math.max(0, Math.floor(ms / second));
  const hours = Math.floor(all / 3600);
  const minutes = Math.floor((all % 3600) / 60);
  const start = hours > 0 ? `${hours}:${pad(minutes)}` : `${minutes}`;
  return `${start}:${pad(all % 60)}`;
}

/** How long a step took: `40 ms`, `6.3 s`, `3:12`. */
export function stepWords(ms: number): string {
  if (ms < 100) return `${Math.round(ms)} ms`;
  return ms < minute ? `${(ms / second).toFixed(1)} s` : stopwatchWords(ms);
}

function pad(value: number): string {
  return String(value).padStart(2, '0');
}

/** `940`, `12.4k`, `3.2M`. */
export function tokenWords(count: number): string {
  if (count < 1_000) return String(Math.round(count));
  if (count < 999_500) return `${short(count / 1_000)}k`;
  return `${short(count / 1_000_000)}M`;
}

function short(value: number): string {
  return value < 99.95 ? value.toFixed(1) : String(Math.round(value));
}

/** `$0.04`, `$12.30`, `$1240`. */
export function costWords(usd: number): string {
  if (usd > 0 && usd < 0.005) return '<$0.01';
  return usd < 1_000 ? `$${usd.toFixed(2)}` : `$${Math.round(usd)}`;
}

/** `in_progress` as `in progress`. */
export function plainWords(name: string): string {
  return name.replaceAll('_', ' ');
}

/** `14:03`, or `14:03:12`. */
export function clockWords(at: number, hasSeconds = false): string {
  const seconds = hasSeconds ? ({ second: '2-digit' } as const) : {};
  return new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...seconds });
}

/**
 * Joins texts as sentences. The daemon's texts start in lower case and have no full stop, because they are part of a
 * line there.
 */
export function sentences(...parts: readonly (string | null)[]): string {
  return parts
    .filter((part) => part !== null && part.trim() !== '')
    .map((part) => {
      const text = (part ?? '').trim();
      // The name of a branch or of a file stays as it is.
      const isName = /^\S*[/_.]\S/u.test(text);
      const start = isName ? text : text.charAt(0).toUpperCase() + text.slice(1);
      return /[.!?…:]$/u.test(start) ? start : `${start}.`;
    })
    .join(' ');
}

export function countWords(count: number, one: string, many: string): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}
