import type { Kysely } from 'kysely';
import type { AccountPark, AccountState, QuotaWindow } from '../../core/account/account.ts';
import { toJsonText } from '../json-text.ts';
import { numberIn, recordIn, recordsIn, textIn, valueFromText } from '../read-json.ts';
import type { Database } from '../schema.ts';
import type { Accounts } from './accounts.ts';

export function accountsTable(db: Kysely<Database>): Accounts {
  return {
    list: async () => {
      const rows = await db.selectFrom('accounts').selectAll().orderBy('backend').orderBy('name').execute();
      return rows.map(accountFrom);
    },
    put: async (account, at) => {
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

/** What cannot be read is not known: such a window is left out, and no account is parked by it. */
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
    ...(found.isTold === true ? { isTold: true } : {}),
    ...(wrongTimes === null ? {} : { wrongTimes }),
    ...(probeBy === null || probeUntil === null ? {} : { probe: { by: probeBy, until: probeUntil } }),
  };
}
