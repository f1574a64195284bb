import type { IssueSpent } from '../core/limits.ts';
import type { IssueKey } from '../store/issue-key.ts';
import type { StoreTables } from '../store/store.ts';
import type { IssueCounts } from './scheduling-state.ts';

/** The names under which the store counts for an issue. A person who lets it go on sets all of them back. */
const names = {
  runs: 'runs',
  tokens: 'tokens',
  wallMs: 'wall_ms',
  microUsd: 'micro_usd',
  failures: 'failures',
  staleRuns: 'stale_runs',
  quotaWaits: 'quota_waits',
} as const;

type CounterTables = Pick<StoreTables, 'counters'>;

/** Failures, fruitless runs and waits for a quota in a row, of which there are none. */
export const noStreaks = { failures: 0, staleRuns: 0, quotaWaits: 0 };

export async function readCounts({ counters }: CounterTables, key: IssueKey): Promise<IssueCounts> {
  const found = await counters.read(key);
  const read = (name: keyof typeof names): number => found[names[name]] ?? 0;
  return {
    spent: { runs: read('runs'), tokens: read('tokens'), wallMs: read('wallMs'), microUsd: read('microUsd') },
    failures: read('failures'),
    staleRuns: read('staleRuns'),
    quotaWaits: read('quotaWaits'),
  };
}

/** Adds what one run used. */
export async function addSpent(
  { counters }: CounterTables,
  key: IssueKey,
  spent: Omit<IssueSpent, 'runs'>,
): Promise<void> {
  for (const [name, by] of Object.entries(spent) as [keyof typeof spent, number][]) {
    if (by !== 0) await counters.add(key, names[name], Math.round(by));
  }
}

/** Counts anew; what is kept beside, under other names, stays. */
export async function clearCounts({ counters }: CounterTables, key: IssueKey): Promise<void> {
  await counters.clear(key, Object.values(names));
}

/** Sets what is counted in a row. */
export async function writeStreaks(
  { counters }: CounterTables,
  key: IssueKey,
  streaks: { readonly failures: number; readonly staleRuns: number; readonly quotaWaits: number },
): Promise<void> {
  for (const name of ['failures', 'staleRuns', 'quotaWaits'] as const)
    await counters.set(key, names[name], streaks[name]);
}
