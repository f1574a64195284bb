import type { IssueSpent } from '../../core/run/limits.ts';
import type { IssueKey } from '../../store/issue-key.ts';
import type { StoreTables } from '../../store/store.ts';
import { commentsUntil } from '../../store/tables/counters.ts';

/** Counts of an issue since a person last released it, and its failures and runs without progress in a row. */
export interface IssueCounts extends Streaks {
  readonly spent: IssueSpent;
}

export interface Streaks {
  readonly failures: number;
  readonly staleRuns: number;
  /** Runs in a row that ended well without a work product. */
  readonly noSignals: number;
  /** Waits for a quota in a row. */
  readonly quotaWaits: number;
}

/** Names of the issue's counters in the store. A release by a person resets all of them. */
const names = {
  runs: 'runs',
  tokens: 'tokens',
  wallMs: 'wall_ms',
  microUsd: 'micro_usd',
  failures: 'failures',
  staleRuns: 'stale_runs',
  noSignals: 'no_signals',
  quotaWaits: 'quota_waits',
} as const;

type CounterTables = Pick<StoreTables, 'counters'>;

export const noStreaks: Streaks = { failures: 0, staleRuns: 0, noSignals: 0, quotaWaits: 0 };

export async function readCounts({ counters }: CounterTables, key: IssueKey): Promise<IssueCounts> {
  const found = await counters.read(key);
  const read = (name: keyof typeof names): number => found[names[name]] ?? 0;
  return {
    spent: { runs: read('runs'), tokens: read('tokens'), wallMs: read('wallMs'), microUsd: read('microUsd') },
    failures: read('failures'),
    staleRuns: read('staleRuns'),
    noSignals: read('noSignals'),
    quotaWaits: read('quotaWaits'),
  };
}

/** Up to when a run that ended well knew the comments on the issue; null: no run has. */
export async function readCommentsUntil({ counters }: CounterTables, key: IssueKey): Promise<number | null> {
  return (await counters.read(key))[commentsUntil] ?? null;
}

export async function writeCommentsUntil({ counters }: CounterTables, key: IssueKey, at: number): Promise<void> {
  await counters.set(key, commentsUntil, at);
}

export async function addSpent(
  { counters }: CounterTables,
  key: IssueKey,
  spent: Omit<IssueSpent, 'runs'>,
): Promise<void> {
  for (const [name, by] of Object.entries(spent) as [keyof typeof spent, number][]) {
    if (by !== 0) await counters.add(key, names[name], Math.round(by));
  }
}

/** Counts a run that begins, or removes one that does not count. */
export async function addRuns({ counters }: CounterTables, key: IssueKey, by: 1 | -1): Promise<void> {
  await counters.add(key, names.runs, by);
}

/** Resets these counters to zero, and the revisions of its phase; counters under other names stay. */
export async function clearCounts(
  { counters, phases }: Pick<StoreTables, 'counters' | 'phases'>,
  key: IssueKey,
): Promise<void> {
  await counters.clear(key, Object.values(names));
  await phases.clearRevisions(key);
}

export async function writeStreaks({ counters }: CounterTables, key: IssueKey, streaks: Streaks): Promise<void> {
  const { failures, staleRuns, noSignals, quotaWaits } = streaks;
  await counters.setAll(key, {
    [names.failures]: failures,
    [names.staleRuns]: staleRuns,
    [names.noSignals]: noSignals,
    [names.quotaWaits]: quotaWaits,
  });
}
