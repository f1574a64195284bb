import type { AccountState } from '../../../src/core/account/account.ts';
import type { MemoryStore } from '../memory-store.ts';

interface Row {
  readonly backend: string;
  readonly name: string;
  readonly windows_json: string;
  readonly parked_json: string | null;
  readonly parks: number;
}

/** Nothing waits for a later time. */
const furthestMs = 8 * 24 * 3_600_000 + 60_000;

/** The accounts in the store, by name; all simulated ones belong to one backend. */
export function storedAccounts(memory: MemoryStore): ReadonlyMap<string, AccountState> {
  const rows = memory.look<Row>('select backend, name, windows_json, parked_json, parks from accounts');
  return new Map(
    rows.map(({ backend, name, windows_json, parked_json, parks }) => [
      name,
      { backend, name, windows: JSON.parse(windows_json), parked: JSON.parse(parked_json ?? 'null'), parks },
    ]),
  );
}

/** Until when an account may not be used, because it was refused, is tried by a run, or is nearly used up; null if it may. */
export function whyAccountWaits(account: AccountState | undefined, now: number, stopPercent: number): number | null {
  const windows = (account?.windows ?? []).filter(({ usedPercent }) => usedPercent >= stopPercent);
  const { until = 0, probe } = account?.parked ?? {};
  const times = [until, probe?.until ?? 0, ...windows.map(({ resetsAt }) => resetsAt ?? 0)];
  const ahead = times.filter((at) => at > now && at - now <= furthestMs);
  return ahead.length === 0 ? null : Math.max(...ahead);
}
