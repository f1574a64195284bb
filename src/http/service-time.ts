/** No wait that a service asks for is longer than this; after it one request asks again. */
export const longestWaitMs = 24 * 3_600_000;

/** A clock of ours and one of a service that differ by less are taken for the same: dates have seconds and travel. */
const toleratedSkewMs = 60_000;

/** The time as an answer tells it. Whatever is read from that answer is in this time. */
export interface ServiceTime {
  readonly now: number;
  /** A time of the service as one of ours. */
  toOurs(at: number): number;
}

/**
 * Read from the `Date` of an answer, so that a clock that differs from ours starts and ends no wait at the wrong time. A
 * `Date` by which a time makes no sense (it would be over, or days away) is not believed.
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

/** When to come again by `Retry-After` (RFC 9110 10.2.3), in our time; null when it says nothing that can be read. */
export function readRetryAfter(value: string | undefined, time: ServiceTime, ourNow: number): number | null {
  if (value === undefined) return null;
  if (/^\s*\d+(?:\.\d+)?\s*$/.test(value)) return ourNow + Math.ceil(Number(value) * 1_000);
  const at = readHttpDate(value);
  return at === null ? null : time.toOurs(at);
}

/** Any of the three forms of RFC 9110 5.6.7, which are all in GMT; `Date.parse` alone would read a date out of anything. */
function readHttpDate(value: string): number | null {
  const text = value.trim();
  if (!/^(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?,? [\w :-]+$/.test(text)) return null;
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isFinite(at) ? at : null;
}
