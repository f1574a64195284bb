import type { LedgerRun } from '../../run-ledger.ts';
import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';

/** A judge that says nothing is repeated up to this many runs in a row. */
const mostInVain = 3;

/**
 * Every change ends in a bounded number of runs: since a person last did, checks, conflicts and reviewers send it back at most
 * `review.max_rounds` times, and its judges at most `judge.max_rounds` times; each judge of a commit has a bounded number of
 * runs that end well, unless a person asks for more.
 */
export function rounds(world: World): Rule {
  const { judge, review } = world.plan.settings;
  const judged = new Map<string, { runs: number; since: number }>();
  return {
    afterStep: () => {
      if (!world.storeHasChanged) return;
      for (const { number, issue_id, by_checks, by_judges } of world.memory.look<Row>(sentBack)) {
        if (by_checks > review.maxRounds)
          world.broke('rounds', issue_id, `a check sends ${number} back as number ${by_checks} of ${review.maxRounds}`);
        if (by_judges > judge.maxRounds)
          world.broke('rounds', issue_id, `a judge sends ${number} back as number ${by_judges} of ${judge.maxRounds}`);
      }
    },
    runEnded: ({ issueId, role, outcome }: LedgerRun) => {
      if (role !== 'judge' || outcome !== 'succeeded') return;
      const asked = Math.max(world.askedAt.get(issueId) ?? -1, world.book.changedAt.get(issueId) ?? -1);
      const [head] = world.memory.look<{ head_commit: string }>(headOf, issueId);
      const key = `${issueId} ${head?.head_commit}`;
      const before = judged.get(key);
      const count = before === undefined || before.since < asked ? { runs: 0, since: world.now } : before;
      count.runs += 1;
      judged.set(key, count);
      // One more: it may have judged the commit before.
      const most = mostInVain * judge.count + 1;
      if (count.runs > most)
        world.broke('rounds', issueId, `${count.runs} runs of judges ended well, and at most ${most} may`);
    },
  };
}

interface Row {
  readonly number: number;
  readonly issue_id: string;
  readonly by_checks: number;
  readonly by_judges: number;
}

const headOf = 'select head_commit from pull_requests where issue_id = ? order by number desc limit 1';
const timesBy = (kinds: string): string => `(
    select count(*) from pull_rounds as one
    where one.project = pull.project and one.number = pull.number and sent_back_kind in (${kinds})
      and one.round > coalesce((
        select max(other.round) from pull_rounds as other
        where other.project = pull.project and other.number = pull.number and other.sent_back_kind in ('person', 'moved')), 0)
  )`;
const sentBack = `
  select number, issue_id, ${timesBy("'check', 'conflict', 'review'")} as by_checks, ${timesBy("'judge'")} as by_judges
  from pull_requests as pull where sent_back_kind is not null`;
