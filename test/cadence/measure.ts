import { seededChance } from '../fake/seeded-chance.ts';
import { beginDay, type DayOptions, hour, midnight, minute, second, wholeDay } from './day.ts';
import { initialFile } from './initial-file.ts';
import { fileIssues, usualWork } from './people.ts';

/*
 * Measures for docs/cadence.md the requests of each pace and how soon it starts an issue: `node test/cadence/measure.ts`.
 * Requests of a day, with nothing to do and with twenty issues between 09:00 and 17:00; the time from filing an issue to
 * the start of its run, over 200 issues filed at random.
 */

interface Row {
  readonly pace: string;
  /** Issues per day when the time to their start is measured; it matters only for an adaptive pace. */
  readonly filedADay: number;
  readonly file: NonNullable<DayOptions['file']>;
}

const fixed = (pace: string, intervalMs: number): Row => ({
  pace,
  filedADay: 100,
  file: { polling: { interval_ms: intervalMs } },
});

const rows: readonly Row[] = [
  fixed('fixed, 5 s', 5 * second),
  fixed('fixed, 30 s', 30 * second),
  fixed('fixed, 60 s', minute),
  fixed('fixed, 5 min', 5 * minute),
  { pace: 'adaptive, as by `baton init`', filedADay: 20, file: initialFile() },
];

const filings = 200;

async function requestsOfDay({ file }: Row, hasIssues: boolean): Promise<number> {
  // The second day, because the start of Baton counts as activity.
  const day = await beginDay({ file, startAt: midnight - 2 * hour, work: usualWork });
  await day.clock.advance(2 * hour);
  const before = await day.requests();
  if (hasIssues) fileIssues(day, 9 * hour, 24 * minute);
  await day.clock.advance(wholeDay);
  await day.orchestrator.stop();
  return (await day.requests()) - before;
}

/** Issues at random times of the day between the two hours; from filing to start. */
async function reactions({ file, filedADay }: Omit<Row, 'pace'>, from: number, to: number): Promise<readonly number[]> {
  const text = typeof file === 'string' ? file.replace('max_concurrent_agents: 2', 'max_concurrent_agents: 10') : file;
  const work = () => ({ turnMs: 5 * minute, movesTo: 'Done' });
  const day = await beginDay({ file: text, work });
  const chance = seededChance(7);
  for (let nth = 0; nth < filings; nth += 1) {
    const at = Math.floor(nth / filedADay) * wholeDay + from + chance.next() * (to - from);
    day.clock.schedule(at, () => void day.linear.addIssue());
  }
  await day.clock.advance((filings / filedADay) * wholeDay + hour);
  await day.orchestrator.stop();
  return [...day.linear.records.issues.values()].map(({ identifier, createdAt }) => {
    const start = day.starts.find((each) => each.identifier === identifier);
    if (start === undefined) throw new Error(`${identifier} never started`);
    return start.at - createdAt;
  });
}

function quantile(values: readonly number[], share: number): string {
  const sorted = values.toSorted((left, right) => left - right);
  const value = sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return `${(value / second).toFixed(1)} s`;
}

function tell(...cells: readonly (string | number)[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}

tell('pace', 'a day with nothing to do', 'with 20 issues', 'median', 'p99');
tell('---', '---', '---', '---', '---');
for (const row of rows) {
  const counts = [await requestsOfDay(row, false), await requestsOfDay(row, true)];
  const times = await reactions(row, 9 * hour, 17 * hour);
  tell(row.pace, ...counts, quantile(times, 0.5), quantile(times, 0.99));
}
const night = await reactions({ file: initialFile(), filedADay: 20 }, 0, 7 * hour);
tell('the same, filed in quiet hours', '', '', quantile(night, 0.5), quantile(night, 0.99));
