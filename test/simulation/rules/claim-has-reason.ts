import type { World } from '../world.ts';
import type { Rule } from './rule.ts';

/** A claim in the store has a reason: a run without an end, a waiting retry, or a hold. */
export function claimHasReason(world: World): Rule {
  return {
    afterStep: () => {
      if (!world.storeHasChanged) return;
      for (const { issue_id, owner } of world.memory.look<{ issue_id: string; owner: string }>(bareClaims))
        world.broke('claim_has_reason', issue_id, `claimed by ${owner}, with no run, look or hold`);
    },
  };
}

const bareClaims = `
  select issue_id, owner from claims where owner is not null
    and not exists (select 1 from runs where runs.issue_id = claims.issue_id and ended_at is null)
    and not exists (select 1 from retries where retries.issue_id = claims.issue_id)
    and not exists (select 1 from held where held.issue_id = claims.issue_id)`;
