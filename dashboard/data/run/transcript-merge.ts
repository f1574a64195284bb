import type { RunEvent } from '../../../src/client/schema/run.ts';

/**
 * Merges events of a run from pages and from the stream: by their numbers, each once, in order. Of two with the same
 * number the whole one stays. Without a new event the same list is returned.
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

/** Keeps `most` events: those at the end where the list grows; the others are dropped. */
export function cutEvents(events: readonly RunEvent[], most: number, end: 'first' | 'last'): readonly RunEvent[] {
  if (events.length <= most) return events;
  return end === 'first' ? events.slice(0, most) : events.slice(-most);
}
