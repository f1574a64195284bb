import type { ClaimHolder } from '../store/claims.ts';
import type { HeldIssue } from '../store/held.ts';
import type { IssueKey } from '../store/issue-key.ts';
import type { Retry } from '../store/retries.ts';
import type { StoreTables } from '../store/store.ts';
import { bothNotes } from './run-wish.ts';
import { type HeldEntry, type Look, slotOfHold } from './scheduling-state.ts';

/** A promise to look again, as the store has it. */
export async function putLook({ retries }: StoreTables, key: IssueKey, { issue, ...facts }: Look): Promise<void> {
  const { identifier, url = null } = issue;
  await retries.put({ ...key, identifier, url, ...facts });
}

export function lookFrom(retry: Retry): Look {
  const { issueId, identifier, url, kind, attempt, failures, staleRuns, recovery, note, error, dueAt } = retry;
  const issue = { id: issueId, identifier, url };
  return { issue, kind: kind ?? 'interrupted', attempt, failures, staleRuns, recovery, note, error, dueAt };
}

/** A hold, as the store has it. */
export async function putHold({ held }: StoreTables, key: IssueKey, entry: HeldEntry): Promise<void> {
  const { issue, code, reason, since, runId } = entry;
  await held.put({ ...key, identifier: issue.identifier, code, reason, since, runId });
}

/** As `putHold`, for an issue that does not run: it has no look any more, and no slot unless its agent may be alive. */
export async function putIdleHold(
  tables: StoreTables,
  key: IssueKey,
  holder: ClaimHolder,
  entry: HeldEntry,
): Promise<void> {
  await keepNoteOfLook(tables, key);
  await tables.retries.remove(key);
  await putHold(tables, key, entry);
  await tables.claims.setSlot(key, holder, slotOfHold(entry));
}

/** What a person wanted the next run to know is not forgotten with the look: the run before keeps it. */
async function keepNoteOfLook({ retries, runs }: StoreTables, key: IssueKey): Promise<void> {
  const note = (await retries.read(key))?.note ?? null;
  const last = note === null ? null : await runs.latestOfIssue(key);
  if (note !== null && last !== null) await runs.keepNote(last.runId, bothNotes(last.note ?? null, note) ?? note);
}

export function heldFrom({ issueId, identifier, code, reason, since, runId }: HeldIssue): HeldEntry {
  return { issue: { id: issueId, identifier }, code, reason, since, runId };
}
