import { type Now, type RowList, rowLists } from '../../../client/schema/now.ts';

/** The last published state of a project: each row as the text that was sent. */
export interface PublishedProject {
  readonly vitals: string;
  readonly lists: Readonly<Record<RowList, ReadonlyMap<string, string>>>;
}

export function publishedOf(now: Now): PublishedProject {
  const listOf = (list: RowList): ReadonlyMap<string, string> =>
    new Map(now[list].map((row) => [row.key, JSON.stringify(row)]));
  return {
    vitals: JSON.stringify(now.vitals),
    lists: {
      needs_you: listOf('needs_you'),
      running: listOf('running'),
      waiting: listOf('waiting'),
      finished: listOf('finished'),
      accounts: listOf('accounts'),
    },
  };
}

/**
 * The JSON text of the patch from `before` to `after`; null when nothing changed. A patch has no order within a list:
 * the client sorts it.
 */
export function patchText(
  project: string,
  at: string,
  before: PublishedProject,
  after: PublishedProject,
): string | null {
  const set: string[] = [];
  const drop: string[] = [];
  for (const list of rowLists) {
    const [old, fresh] = [before.lists[list], after.lists[list]];
    const changed = [...fresh].filter(([key, text]) => old.get(key) !== text).map(([, text]) => text);
    const gone = [...old.keys()].filter((key) => !fresh.has(key));
    if (changed.length > 0) set.push(`"${list}":[${changed.join(',')}]`);
    if (gone.length > 0) drop.push(`"${list}":${JSON.stringify(gone)}`);
  }
  const hasNewVitals = before.vitals !== after.vitals;
  if (set.length === 0 && drop.length === 0 && !hasNewVitals) return null;
  const head = `"project":${JSON.stringify(project)},"at":${JSON.stringify(at)}`;
  const vitals = hasNewVitals ? `,"vitals":${after.vitals}` : '';
  return `{${head}${vitals},"set":{${set.join(',')}},"drop":{${drop.join(',')}}}`;
}

/** The published state of a project as the JSON text of a `Now`. */
export function snapshotText(project: string, at: string, { vitals, lists }: PublishedProject): string {
  const rows = rowLists.map((list) => `"${list}":[${[...lists[list].values()].join(',')}]`);
  const head = `"project":${JSON.stringify(project)},"generated_at":${JSON.stringify(at)}`;
  return `{${head},"vitals":${vitals},${rows.join(',')}}`;
}
