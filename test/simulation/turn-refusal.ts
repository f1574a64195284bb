import { BatonError } from '../../src/core/baton-error.ts';
import type { TurnEnd } from './agent-script.ts';
import type { SessionParts } from './simulated-session.ts';

/** The cause of a failed turn, recorded in the world if it was the account or the conversation. */
export function refusal(parts: SessionParts, end: TurnEnd, quotaBackMs: number | null): BatonError {
  const { world, incarnation, account, request } = parts;
  const now = incarnation.clock.now();
  if (end === 'out_of_quota') {
    const resetsAt = quotaBackMs === null ? null : now + quotaBackMs;
    world.tally('out of quota');
    world.quotaBackAt.set(request.runId, world.now + Math.max(0, quotaBackMs ?? 0));
    world.accounts.refused(account, now, 'quota', resetsAt);
    const details = resetsAt === null ? {} : { resets_at: resetsAt };
    return new BatonError('agent_quota_exhausted', 'The simulated account has no quota.', { details });
  }
  if (end === 'logged_out') {
    world.tally('logged out');
    world.accounts.refused(account, now, 'auth', null);
    return new BatonError('agent_auth_failed', 'Nobody is logged in to the simulated account.');
  }
  if (end === 'overflows') {
    world.tally('context exhausted');
    world.overflowed.add(request.workspace);
    const kind = world.draw.questions.pick(['token', 'context']);
    return new BatonError('agent_context_exhausted', 'The simulated conversation is too long.', { details: { kind } });
  }
  return new BatonError('agent_turn_failed', 'The simulated turn failed.');
}
