import type { QuietHours } from '../settings.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/**
 * Whether a wall clock in that time zone shows a time within the quiet hours: the start is included, the end is not.
 * Daylight saving needs no other rule: a skipped hour never occurs, and a repeated hour counts twice.
 */
export function isQuiet(now: number, hours: QuietHours): boolean {
  return isWithin(now + offsetAt(now, hours.timeZone), hours);
}

/** The next instant, after `now`, at which the answer of `isQuiet` changes. It is within two days. */
export function quietChangesAt(now: number, hours: QuietHours): number {
  const before = isQuiet(now, hours);
  let at = now;
  // Between two clock changes wall time is even, so the loop reaches either the next boundary or the clock change.
  while (at < now + 2 * dayMs && isQuiet(at, hours) === before) {
    const boundary = at + untilBoundary(at + offsetAt(at, hours.timeZone), hours);
    at = firstOtherOffset(at, boundary, hours.timeZone) ?? boundary;
  }
  return at;
}

/** `22:00-06:00`, as in the workflow file. */
export function quietHoursText({ fromMinute, toMinute }: QuietHours): string {
  return `${timeText(fromMinute)}-${timeText(toMinute)}`;
}

function timeText(minute: number): string {
  const [hours, minutes] = [Math.floor(minute / 60), minute % 60];
  return `${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`;
}

/** `wall` is what the clock on the wall shows, in milliseconds since the midnight of some day. */
function isWithin(wall: number, { fromMinute, toMinute }: QuietHours): boolean {
  const minute = Math.floor(modulo(wall, dayMs) / minuteMs);
  return fromMinute < toMinute ? minute >= fromMinute && minute < toMinute : minute >= fromMinute || minute < toMinute;
}

/** How long until the wall shows the beginning or the end; more than nothing. */
function untilBoundary(wall: number, { fromMinute, toMinute }: QuietHours): number {
  const until = (minute: number): number => modulo(minute * minuteMs - wall, dayMs) || dayMs;
  return Math.min(until(fromMinute), until(toMinute));
}

/** The first millisecond in `(from, to]` with another offset than at `from`; clocks are not changed twice in a day. */
function firstOtherOffset(from: number, to: number, timeZone: string): number | null {
  const offset = offsetAt(from, timeZone);
  if (offsetAt(to, timeZone) === offset) return null;
  let [same, other] = [from, to];
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (offsetAt(middle, timeZone) === offset) same = middle;
    else other = middle;
  }
  return Math.floor(other);
}

/**
 * How far the wall in that time zone is ahead of UTC. The hour that was asked for last is kept if no clock changes in it:
 * each tick asks several times, and a formatter is slow.
 */
function offsetAt(instant: number, timeZone: string): number {
  const hour = Math.floor(instant / hourMs);
  const known = lastHours.get(timeZone);
  if (known?.hour === hour) return known.offset ?? readOffset(instant, timeZone);
  const offset = readOffset(hour * hourMs, timeZone);
  const isSteady = readOffset((hour + 1) * hourMs - 1, timeZone) === offset;
  lastHours.set(timeZone, { hour, offset: isSteady ? offset : null });
  return isSteady ? offset : readOffset(instant, timeZone);
}

const lastHours = new Map<string, { readonly hour: number; readonly offset: number | null }>();

function readOffset(instant: number, timeZone: string): number {
  const parts = formatterOf(timeZone).formatToParts(instant);
  const value = (type: Intl.DateTimeFormatPartTypes): number =>
    Number(parts.find((part) => part.type === type)?.value ?? 0);
  const wall = Date.UTC(
    value('year'),
    value('month') - 1,
    value('day'),
    value('hour'),
    value('minute'),
    value('second'),
  );
  // The parts have whole seconds.
  return wall - Math.floor(instant / 1000) * 1000;
}

/** Creating a formatter takes a hundred times as long as using it, and there are few time zones. */
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formatters.set(timeZone, made);
  return made;
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}
