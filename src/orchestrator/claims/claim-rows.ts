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
  return { ...facts, agent: facts.agent ?? null, issue: { id, identifier, url }, kind: kind ?? 'interrupted' };
}

export async function putHold({ held }: StoreTables, key: IssueKey, { issue, ...facts }: Hold): Promise<void> {
  await held.put({ ...facts, ...key, identifier: issue.identifier });
}

/** As `putHold`, for an issue that does not run: its retry ends, and it takes no slot unless its agent may be alive. */
export async function putIdleHold(tables: StoreTables, key: IssueKey, holder: ClaimHolder, hold: Hold): Promise<void> {
  await tables.retries.remove(key);
  await putHold(tables, key, hold);
  const slot = slotOfHold(hold);
  await tables.claims.setSlot(key, holder, slot?.state ?? null, slot?.role);
}

export function holdFrom({ project: _project, issueId: id, identifier, ...facts }: HeldIssue): Hold {
  return { ...facts, issue: { id, identifier } };
}
