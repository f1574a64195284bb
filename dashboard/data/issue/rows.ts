import type { Patch } from '../../../src/client/schema/event.ts';
import type {
  AccountRow,
  FinishedRow,
  NeedsYou,
  Now,
  RowList,
  RunningRow,
  Vitals,
  WaitingRow,
} from '../../../src/client/schema/now.ts';

/** Which row is in which list. */
export interface RowOf {
  readonly needs_you: NeedsYou;
  readonly running: RunningRow;
  readonly waiting: WaitingRow;
  readonly finished: FinishedRow;
  readonly accounts: AccountRow;
}

type Rows = { readonly [L in RowList]: ReadonlyMap<string, RowOf[L]> };

/** The state of a project: its vitals, and the rows of each list by their keys. */
export interface ProjectRows extends Rows {
  readonly project: string;
  readonly vitals: Vitals;
}

const noRows: Rows = {
  needs_you: new Map(),
  running: new Map(),
  waiting: new Map(),
  finished: new Map(),
  accounts: new Map(),
};
const lists = Object.keys(noRows) as readonly RowList[];

/** A snapshot is everything: it replaces the earlier state. */
export function fromSnapshot(snapshot: Now): ProjectRows {
  const filled = lists.map((list) => [list, new Map(snapshot[list].map((row) => [row.key, row]))]);
  // Each list of the snapshot has rows of its own kind.
  return { project: snapshot.project, vitals: snapshot.vitals, ...(Object.fromEntries(filled) as Rows) };
}

/**
 * The next state after a patch. A row that the patch does not name stays the same object, and a list that it does not
 * name stays the same map, so that components see that nothing changed.
 */
export function withPatch(before: ProjectRows, patch: Patch): ProjectRows {
  const changed: [RowList, ReadonlyMap<string, unknown>][] = [];
  for (const list of lists) {
    const set = patch.set[list] ?? [];
    const drop = patch.drop[list] ?? [];
    if (set.length === 0 && drop.length === 0) continue;
    const rows = new Map<string, unknown>(before[list]);
    for (const key of drop) rows.delete(key);
    for (const row of set) rows.set(row.key, row);
    changed.push([list, rows]);
  }
  // The server sends only rows that match the schema of their list.
  return { ...before, vitals: patch.vitals ?? before.vitals, ...(Object.fromEntries(changed) as Partial<Rows>) };
}
