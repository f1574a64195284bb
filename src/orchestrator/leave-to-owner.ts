import { BatonError } from '../core/baton-error.ts';
import type { OrchestratorContext } from './context.ts';
import { type IssueName, isClaimed } from './scheduling-state.ts';

/** On a shared store a command about an issue waits for the daemon that has it; the store knows who that is just now. */
export async function leaveToItsOwner(context: OrchestratorContext, issue: IssueName): Promise<void> {
  const { store, project, owner, clock, state, isShared } = context;
  if (!isShared || isClaimed(state, issue.id)) return;
  const claims = await store.claims.held(project, clock.now());
  const other = claims.find((claim) => claim.issueId === issue.id && claim.owner !== owner && !claim.isExpired);
  if (other === undefined) return;
  const where = other.host === null ? '' : ` on ${other.host}`;
  throw new BatonError('claim_lost', `${issue.identifier} belongs to the daemon${where}; that one carries it out.`);
}
