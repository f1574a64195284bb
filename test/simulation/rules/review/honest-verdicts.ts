import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';

interface Row {
  readonly number: number;
  readonly issue_id: string;
  readonly commit_id: string;
}

/**
 * A verdict counts for its commit only: it is about a head that was in review, a judge sends back no commit without a
 * rejection of exactly that one, no verdict comes from a checkout that was changed, and no judge starts for a commit that
 * has all its verdicts.
 */
export function honestVerdicts(world: World): Rule {
  return {
    runStarted: ({ issueId, runId, role }) => {
      const count = world.file.settings.judge.count;
      if (role !== 'judge') return;
      for (const { number, commit_id } of world.memory.look<Row>(judgedEnough, issueId, count))
        world.broke('honest_verdicts', issueId, `run ${runId} judges ${commit_id} of ${number} again`);
    },
    afterStep: () => {
      if (!world.storeHasChanged) return;
      for (const { number, issue_id, commit_id } of world.memory.look<Row>(ofNoRound))
        world.broke('honest_verdicts', issue_id, `a verdict of pull request ${number} is about ${commit_id}`);
      if (world.plan.review?.judge?.withoutVerdict === 'todo') return;
      for (const { number, issue_id, commit_id } of world.memory.look<Row>(sentBackWithout))
        world.broke('honest_verdicts', issue_id, `a judge sends back ${commit_id} of ${number} without a rejection`);
    },
  };
}

const ofNoRound = `
  select number, issue_id, commit_id from verdicts join pull_requests using (project, number)
  where not exists (select 1 from pull_rounds as round where round.project = verdicts.project
    and round.number = verdicts.number and round.head_commit = verdicts.commit_id)`;
const judgedEnough = `
  select number, issue_id, head_commit as commit_id from pull_requests as pull
  where issue_id = ? and merged_at is null and closed_at is null and (select count(*) from verdicts where
    verdicts.project = pull.project and verdicts.number = pull.number and verdicts.commit_id = pull.head_commit) >= ?`;
/** Where a judge without a verdict sends nothing back. */
const sentBackWithout = `
  select number, issue_id, pull_rounds.head_commit as commit_id from pull_rounds join pull_requests using (project, number)
  where pull_rounds.sent_back_kind = 'judge' and not exists (select 1 from verdicts where
    verdicts.project = pull_rounds.project and verdicts.number = pull_rounds.number
    and verdicts.commit_id = pull_rounds.head_commit and verdicts.verdict = 'rejected')`;
