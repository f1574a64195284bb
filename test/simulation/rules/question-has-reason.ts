import type { World } from '../world.ts';
import type { Rule } from './rule.ts';

/**
 * An open question in the store has a reason: a run without an end, which waits or is being ended; a
 * hold; or a retry, whose run closes it.
 */
export function questionHasReason(world: World): Rule {
  return {
    afterStep: () => {
      if (!world.storeHasChanged) return;
      for (const { id, issue_id } of world.memory.look<{ id: string; issue_id: string }>(strayQuestions))
        world.broke('question_has_reason', issue_id, `question ${id} is open, with no run, look or hold`);
    },
  };
}

const strayQuestions = `
  select id, issue_id from questions where answered_at is null and closed_at is null
    and not exists (select 1 from runs where runs.issue_id = questions.issue_id and ended_at is null)
    and not exists (select 1 from retries where retries.issue_id = questions.issue_id)
    and not exists (select 1 from held where held.issue_id = questions.issue_id)`;
