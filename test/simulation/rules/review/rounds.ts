import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';

/** A check sends a change back at most so often that all its rounds together stay within `review.max_rounds`. */
export function rounds(world: World): Rule {
  const { maxRounds } = world.plan.settings.review;
  return {
    afterStep: () => {
      if (!world.storeHasChanged) return;
      for (const { number, issue_id, times } of world.memory.look<Row>(sentBackByChecks))
        if (times > maxRounds)
          world.broke(
            'rounds',
            issue_id,
            `a check sends pull request ${number} back as number ${times} of ${maxRounds}`,
          );
    },
  };
}

interface Row {
  readonly number: number;
  readonly issue_id: string;
  readonly times: number;
}

const sentBackByChecks = `
  select number, issue_id, times_sent_back as times from pull_requests where sent_back_kind = 'check'`;
