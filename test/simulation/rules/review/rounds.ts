import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';

/** Checks, conflicts and reviewers send a change back at most `review.max_rounds` times since a person last did. */
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
  select number, issue_id, (
    select count(*) from pull_rounds as one
    where one.project = pull.project and one.number = pull.number and sent_back_kind in ('check', 'conflict', 'review')
      and one.round > coalesce((
        select max(other.round) from pull_rounds as other
        where other.project = pull.project and other.number = pull.number and other.sent_back_kind in ('person', 'moved')), 0)
  ) as times from pull_requests as pull where sent_back_kind = 'check'`;
