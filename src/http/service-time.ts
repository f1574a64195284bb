/** The longest wait that Baton accepts from a service; then one request tries again. */
export const longestWaitMs = 24 * 3_600_000;

/** Clocks that differ by less count as equal, because dates have only seconds and take time to arrive. */
const toleratedSkewMs = 60_000;

/** The time of a service, from one of its answers. All times in that answer follow it. */
export interface ServiceTime {
  readonly now: number;
  /** Converts a time of the service to our clock. */
  toOurs(at: number): number;
}

/**
 * Reads the `Date` of an answer, so that a service with another clock does not start or end a wait at the wrong time. A
 * `Date` that makes a time impossible (in the past, or days away) is ignored.
 */
export function readServiceTime(date: string | undefined, ourNow: number): ServiceTime {
  const said = date === undefined ? null : readHttpDate(date);
  const skewMs = said === null || Math.abs(said - ourNow) <= toleratedSkewMs ? 0 : said - ourNow;
  return {
    now: ourNow + skewMs,
    toOurs(at) {
      const waitMs = at - skewMs - ourNow;
      return waitMs > 0 && waitMs <= longestWaitMs ? at - skewMs : at;
    },
  };
}

/** When to try again according to `Retry-After` (RFC 9110 10.2.3), by our clock; null when it cannot be read. */
export function readRetryAfter(value: string | undefined, time: ServiceTime, ourNow: number): number | null {
  if (value === undefined) return null;
  if (/^\s*\d+(?:\.\d+)?\s*$/.test(value)) return ourNow + Math.ceil(Number(value) * 1_000);
  const at = readHttpDate(value);
  return at === null ? null : time.toOurs(at);
}

/** Any of the three forms of RFC 9110 5.6.7, which are all in GMT; `Date.parse` alone would accept almost any text. */
function readHttpDate(value: string): number | null {
  const text = value.trim();
  if (!/^(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?,? [\w :-]+$/.test(text)) return null;
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isFinite(at) ? at : null;
}
