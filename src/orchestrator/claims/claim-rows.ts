import type { IssueKey } from '../../store/issue-key.ts';
import type { StoreTables } from '../../store/store.ts';
import type { ClaimHolder } from '../../store/tables/claims.ts';
import type { HeldIssue } from '../../store/tables/held.ts';
import type { Retry as RetryRow } from '../../store/tables/retries.ts';
import { type Hold, type Retry, slotOfHold } from './claim.ts';

export async function putRetry({ retries }: StoreTables, key: IssueKey, { issue, ...facts }: Retry): Promise<void> {
  await retries.put({ ...facts, ...key, identifier: issue.identifier, url: issue.url ?? null });
}

export function retryFrom({ project: _project, issueId: id, identifier, url, kind, ...facts }: RetryRow): Retry {
  return { ...facts, issue: { id, identifier, url }, kind: kind ?? 'interrupted' };
}

export async function putHold({ held }: StoreTables, key: IssueKey, { issue, ...facts }: Hold): Promise<void> {
  await held.put({ ...facts, ...key, identifier: issue.identifier });
}

/** As `putHold`, for an issue that does not run: its retry ends, and it takes no slot unless its agent may be alive. */
export async function putIdleHold(tables: StoreTables, key: IssueKey, holder: ClaimHolder, hold: Hold): Promise<void> {
  await keepNoteOfRetry(tables, key);
  await tables.retries.remove(key);
  await putHold(tables, key, hold);
  await tables.claims.setSlot(key, holder, slotOfHold(hold));
}

/** A person's note for the next run must survive the end of the retry, so it is stored with the previous run. */
async function keepNoteOfRetry({ retries, runs }: StoreTables, key: IssueKey): Promise<void> {
  const note = (await retries.read(key))?.note ?? null;
  const last = note === null ? null : await runs.latestOfIssue(key);
  if (note !== null && last !== null) await runs.keepNote(last.runId, bothNotes(last.note ?? null, note) ?? note);
}

export function holdFrom({ project: _project, issueId: id, identifier, ...facts }: HeldIssue): Hold {
  return { ...facts, issue: { id, identifier } };
}

/** Joins a note that no agent has read yet and a new one. Equal notes appear once. */
export function bothNotes(earlier: string | null, now: string | null): string | null {
  const notes = new Set([earlier, now].filter((note) => note !== null));
  return notes.size === 0 ? null : [...notes].join('\n\n');
}
