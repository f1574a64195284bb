import type { AccountState } from '../../../src/core/account/account.ts';
import type { MemoryStore } from '../memory-store.ts';

interface Row {
  readonly backend: string;
  readonly name: string;
  readonly windows_json: string;
  readonly parked_json: string | null;
  readonly parks: number;
}

/** Nobody waits for a time that is further away. */
const furthestMs = 8 * 24 * 3_600_000 + 60_000;

/** What the store has of the accounts, by name; the simulated ones are all of one backend. */
export function storedAccounts(memory: MemoryStore): ReadonlyMap<string, AccountState> {
  const rows = memory.look<Row>('select backend, name, windows_json, parked_json, parks from accounts');
  return new Map(
    rows.map(({ backend, name, windows_json, parked_json, parks }) => [
      name,
      { backend, name, windows: JSON.parse(windows_json), parked: JSON.parse(parked_json ?? 'null'), parks },
    ]),
  );
}

/** Until when an account may not be used: it is parked, tried by a run, or nearly used up; null when it may. */
export function whyAccountWaits(account: AccountState | undefined, now: number, stopPercent: number): number | null {
  const windows = (account?.windows ?? []).filter(({ usedPercent }) => usedPercent >= stopPercent);
  const { until = 0, probe } = account?.parked ?? {};
  const times = [until, probe?.until ?? 0, ...windows.map(({ resetsAt }) => resetsAt ?? 0)];
  const ahead = times.filter((at) => at > now && at - now <= furthestMs);
  return ahead.length === 0 ? null : Math.max(...ahead);
}
