import { missedStart } from '../../core/run/thread-to-resume.ts';
import { mostEarlier } from '../claims/begin-run.ts';
import type { Retry } from '../claims/claim.ts';
import type { Claims } from '../claims/claims.ts';
import { backendsIn } from '../dispatch/agent-of.ts';
import type { EnvironmentWatch } from '../dispatch/environment.ts';
import type { BaseParts } from '../parts.ts';
import type { Accounts } from '../runs/accounts.ts';

export interface HoldParts extends Pick<BaseParts, 'project' | 'source' | 'store'> {
  readonly claims: Claims;
  readonly accounts: Accounts;
  readonly environment: EnvironmentWatch;
}

/**
 * A person releases a hold, or one that waits for the end of a run; returns false when there was none. The issue gets a
 * new allowance: runs, tokens and failures are counted from zero. If its last run should have resumed a conversation
 * and never got a session, the next run resumes it. `agent`: the one that the person chose for the next run.
 */
export async function releaseByPerson(
  parts: HoldParts,
  issueId: string,
  agent: string | null = null,
): Promise<boolean> {
  const { claims, store, project } = parts;
  if (claims.held.has(issueId)) {
    const missed = missedStart(await store.runs.list(project, { issueId, limit: mostEarlier }));
    if (missed !== null) {
      const { retryKind, recovery = null, attempt } = missed;
      // A run with a recovery step always follows a failure.
      const as = { kind: retryKind ?? 'failure', recovery, attempt, agent } as const;
      if (await claims.retryHeld(issueId, as, { byPerson: true })) return true;
    }
    // A chosen agent is part of the retry, so that it is not forgotten before the run starts.
    const chosen = { kind: 'continuation', recovery: null, attempt: 1, agent } as const;
    if (agent !== null && (await claims.retryHeld(issueId, chosen, { byPerson: true }))) return true;
  }
  return claims.release(issueId, { byPerson: true });
}

/** Continues a held issue now, with its current counts: no person gave it a new allowance. */
export async function retryHeld(parts: HoldParts, issueId: string, kind: Retry['kind']): Promise<void> {
  const { claims, store, project } = parts;
  if (!claims.held.has(issueId)) return;
  await tryLogins(parts);
  const last = await store.runs.latestOfIssue({ project, issueId });
  const as = {
    kind,
    recovery: last?.recovery ?? null,
    attempt: last?.attempt ?? null,
    agent: last?.chosenAgent ?? null,
  };
  await claims.retryHeld(issueId, as, { byPerson: false });
}

type AccountParts = Pick<HoldParts, 'accounts' | 'environment' | 'source'>;

/** A person wants the accounts tried now, whatever they are parked for; and the environment too. */
export function tryAccounts({ accounts, environment, source }: AccountParts): Promise<void> {
  environment.tryAgain();
  return accounts.tryAgain(backendsIn(source.read().workflow.settings), ['quota', 'auth']);
}

/**
 * A person continues an issue and may have logged in. That says nothing about quota, so only logins are tried again.
 */
export function tryLogins({ accounts, environment, source }: AccountParts): Promise<void> {
  environment.tryAgain();
  return accounts.tryAgain(backendsIn(source.read().workflow.settings), ['auth']);
}
