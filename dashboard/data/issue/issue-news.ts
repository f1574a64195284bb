import type { StreamEvent } from '../../../src/client/schema/event.ts';
import type { ProjectRows } from './rows.ts';

type Row = Readonly<Record<string, unknown>> & { readonly key: string };
const lists = ['needs_you', 'running', 'waiting', 'finished'] as const;

/** The fields of a row whose change means more than a new last event. */
const telling = [
  'kind',
  'state',
  'stage',
  'turn',
  'run_id',
  'attempt',
  'waits_for_person',
  'code',
  'reason',
  'since',
  'phase',
];

/**
 * Returns whether an event is a reason to read an issue again. A row of a run changes with every event of its agent;
 * the issue is read only when its rows say something else about it, or one of them is gone. `known` are the rows so
 * far.
 */
export function createIssueNews(
  project: string,
  issue: string,
  known: ProjectRows | undefined,
): (event: StreamEvent) => boolean {
  const rows = new Map<string, string>();
  const note = (list: string, row: Row): boolean => {
    if (row.issue_id !== issue && row.issue_identifier !== issue) return false;
    const said = JSON.stringify(telling.map((name) => row[name] ?? null));
    const isNew = rows.get(`${list} ${row.key}`) !== said;
    rows.set(`${list} ${row.key}`, said);
    return isNew;
  };
  if (known !== undefined) for (const list of lists) for (const row of known[list].values()) note(list, { ...row });
  return (event) => {
    if (event.name === 'issue_changed') {
      const { issue_id, issue_identifier } = event.data;
      return event.data.project === project && [issue_id, issue_identifier].includes(issue);
    }
    if (event.name !== 'patch' || event.data.project !== project) return false;
    let isNew = false;
    for (const [list, dropped] of Object.entries(event.data.drop))
      for (const key of dropped) isNew = rows.delete(`${list} ${key}`) || isNew;
    for (const [list, set] of Object.entries(event.data.set)) for (const row of set) isNew = note(list, row) || isNew;
    return isNew;
  };
}
