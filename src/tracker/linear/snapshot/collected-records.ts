import { idOf, type LinearRecord, type Reading } from '../read/linear-record.ts';

/** The records from all requests of one read. A later record replaces an earlier one, unless its change is older. */
export interface CollectedRecords {
  /** Null: the issue does not exist, or its record is unusable. */
  readonly records: Map<string, LinearRecord | null>;
  /** In the order of their first appearance. */
  readonly order: string[];
  /** Issues that are archived, deleted or not in the project, with the time of their last change. */
  readonly gone: Map<string, number | null>;
  /** Issues that may exist but cannot be read, by id, with the identifier where it was readable. */
  readonly unreadable: Map<string, string | null>;
  /** How many records were unusable. */
  malformed: number;
}

export function noRecords(): CollectedRecords {
  return { records: new Map(), order: [], gone: new Map(), unreadable: new Map(), malformed: 0 };
}

export function addListed(collected: CollectedRecords, readings: readonly Reading[]): void {
  for (const reading of readings) {
    if ('record' in reading) addRecord(collected, reading.record);
    else addMalformed(collected, reading.malformed, reading.identifier);
  }
}

/** Adds the answer to one request by id: a missing id is gone, unless a record without an id may be it. */
export function addRequested(
  collected: CollectedRecords,
  asked: readonly string[],
  readings: readonly Reading[],
): void {
  const wanted = new Set(asked);
  const answers = readings.filter((reading) => wanted.has(idOf(reading) ?? '') || idOf(reading) === null);
  addListed(collected, answers);
  const shown = new Set(answers.map(idOf));
  const { records, gone, unreadable } = collected;
  for (const id of asked) {
    if (shown.has(id)) continue;
    if (shown.has(null)) {
      if ((records.get(id) ?? null) === null) unreadable.set(id, unreadable.get(id) ?? null);
      continue;
    }
    gone.set(id, gone.get(id) ?? null);
    records.set(id, null);
    unreadable.delete(id);
  }
}

function addRecord({ records, order, gone, unreadable }: CollectedRecords, record: LinearRecord): void {
  const { id, updatedAt, isArchivedOrDeleted } = record;
  const before = records.get(id);
  if (before === undefined) order.push(id);
  else if (before !== null && (before.updatedAt ?? 0) > (updatedAt ?? 0)) return;
  records.set(id, record);
  unreadable.delete(id);
  if (isArchivedOrDeleted) gone.set(id, updatedAt);
  else gone.delete(id);
}

function addMalformed(collected: CollectedRecords, id: string | null, identifier: string | null): void {
  const { records, unreadable } = collected;
  // The same record may be both listed and riding along.
  if (id === null || !unreadable.has(id)) collected.malformed += 1;
  if (id === null) return;
  records.set(id, null);
  unreadable.set(id, identifier);
}
