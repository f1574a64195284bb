import type { Kysely } from 'kysely';
import type { AccountPark, AccountState, QuotaWindow } from '../../core/account/account.ts';
import { numberIn, recordIn, recordsIn, textIn, toJsonText, valueFromText } from '../json.ts';
import type { Database } from '../schema.ts';

/** The accounts of agents, of all projects: their quota windows, and until when they are parked. */
export function accountsTable(db: Kysely<Database>) {
  return {
    list: async (): Promise<readonly AccountState[]> => {
      const rows = await db.selectFrom('accounts').selectAll().orderBy('backend').orderBy('name').execute();
      return rows.map(accountFrom);
    },

    /** Replaces what is known of the account. */
    put: async (account: AccountState, at: number): Promise<void> => {
      const facts = {
        windows_json: JSON.stringify(account.windows),
        parked_json: toJsonText(account.parked),
        parks: account.parks,
        updated_at: at,
      };
      await db
        .insertInto('accounts')
        .values({ backend: account.backend, name: account.name, ...facts })
        .onConflict((conflict) => conflict.columns(['backend', 'name']).doUpdateSet(facts))
        .execute();
    },
  };
}

/** A window or park that cannot be read counts as unknown: it is left out. */
function accountFrom(row: Database['accounts']): AccountState {
  return {
    backend: row.backend,
    name: row.name,
    windows: recordsIn(valueFromText(row.windows_json)).flatMap(windowFrom),
    parked: parkFrom(valueFromText(row.parked_json)),
    parks: row.parks,
  };
}

function windowFrom(found: Readonly<Record<string, unknown>>): QuotaWindow[] {
  const [name, usedPercent] = [textIn(found.name), numberIn(found.usedPercent)];
  if (name === null || usedPercent === null) return [];
  const other = found.isOther === true ? { isOther: true } : {};
  const [windowMinutes, resetsAt] = [numberIn(found.windowMinutes), numberIn(found.resetsAt)];
  return [{ name, usedPercent, windowMinutes, resetsAt, ...other }];
}

function parkFrom(value: unknown): AccountPark | null {
  const found = recordIn(value);
  const [until, since] = [numberIn(found.until), numberIn(found.since)];
  if (until === null || since === null || (found.why !== 'quota' && found.why !== 'auth')) return null;
  const [by, wrongTimes] = [textIn(found.by), numberIn(found.wrongTimes)];
  const probe = recordIn(found.probe);
  const [probeBy, probeUntil] = [textIn(probe.by), numberIn(probe.until)];
  return {
    until,
    since,
    why: found.why,
    reason: textIn(found.reason) ?? '',
    ...(by === null ? {} : { by }),
    ...(found.isAnnounced === true ? { isAnnounced: true } : {}),
    ...(wrongTimes === null ? {} : { wrongTimes }),
    ...(probeBy === null || probeUntil === null ? {} : { probe: { by: probeBy, until: probeUntil } }),
  };
}
