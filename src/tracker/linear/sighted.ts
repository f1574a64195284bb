import type { LinearRecord, Reading } from './linear-record.ts';

/** What the requests of one read have shown. Later ones count more, unless what they show is older. */
export interface Sighted {
  /** Null: it does not exist, or cannot be used. */
  readonly records: Map<string, LinearRecord | null>;
  /** In the order in which they were listed first. */
  readonly order: string[];
  /** What is in the archive, in the trash or not in the project, with when it changed last. */
  readonly gone: Map<string, number | null>;
  /** How many records could not be used. */
  malformed: number;
}

export function nothingSighted(): Sighted {
  return { records: new Map(), order: [], gone: new Map(), malformed: 0 };
}

/** Takes in what was listed. */
export function takeListed(sighted: Sighted, readings: readonly Reading[]): void {
  for (const reading of readings) {
    if ('record' in reading) takeRecord(sighted, reading.record);
    else {
      sighted.malformed += 1;
      if (reading.malformed !== null) sighted.records.set(reading.malformed, null);
    }
  }
}

/** Takes in what was asked for by id: what is missing is gone. */
export function takeAsked(sighted: Sighted, asked: readonly string[], found: ReadonlyMap<string, LinearRecord>): void {
  for (const id of asked) {
    const record = found.get(id);
    if (record !== undefined) {
      takeRecord(sighted, record);
      continue;
    }
    sighted.gone.set(id, sighted.gone.get(id) ?? null);
    sighted.records.set(id, null);
  }
}

function takeRecord({ records, order, gone }: Sighted, record: LinearRecord): void {
  const { id, updatedAt, isPutAway } = record;
  const before = records.get(id);
  if (before === undefined) order.push(id);
  else if (before !== null && (before.updatedAt ?? 0) > (updatedAt ?? 0)) return;
  records.set(id, record);
  if (isPutAway) gone.set(id, updatedAt);
  else gone.delete(id);
}
