import type { RunEvent } from '../../../src/client/schema/run.ts';

/**
 * Events of a run put together from pages and from the stream: by their numbers, each once, in order. Of two with the same
 * number the one that is whole stays. Where nothing is new, the list is the same one.
 */
export function mergeEvents(known: readonly RunEvent[], more: readonly RunEvent[]): readonly RunEvent[] {
  const bySeq = new Map(known.map((event) => [event.seq, event]));
  let isChanged = false;
  for (const event of more) {
    const before = bySeq.get(event.seq);
    if (before !== undefined && (before.payload !== undefined || event.payload === undefined)) continue;
    bySeq.set(event.seq, event);
    isChanged = true;
  }
  if (!isChanged) return known;
  return [...bySeq.values()].sort((left, right) => left.seq - right.seq);
}

/** Keeps so many: those at the end where it grows, the others go. */
export function cutEvents(events: readonly RunEvent[], most: number, end: 'first' | 'last'): readonly RunEvent[] {
  if (events.length <= most) return events;
  return end === 'first' ? events.slice(0, most) : events.slice(-most);
}
