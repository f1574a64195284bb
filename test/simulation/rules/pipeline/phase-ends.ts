import type { LedgerRun } from '../../run-ledger.ts';
import type { World } from '../../world.ts';
import type { Rule } from '../rule.ts';

/** A phase agent that completes nothing, and a judge that says nothing, is repeated up to this many runs in a row. */
const mostInVain = 3;

/**
 * Every issue leaves its phases, or is held, after a bounded number of runs that ended well: without a person, each phase
 * has one more round than `pipeline.max_revisions`, and each round the runs that end in vain.
 */
export function phaseEnds(world: World): Rule {
  const counts = new Map<string, { runs: number; since: number }>();
  return {
    runEnded: ({ issueId, role, phase, outcome }: LedgerRun) => {
      if (phase === null || outcome !== 'succeeded') return;
      const asked = Math.max(world.askedAt.get(issueId) ?? -1, world.book.changedAt.get(issueId) ?? -1);
      const key = `${issueId} ${role} ${phase}`;
      const before = counts.get(key);
      const count = before === undefined || before.since < asked ? { runs: 0, since: world.now } : before;
      count.runs += 1;
      counts.set(key, count);
      const most = (world.plan.settings.pipeline.maxRevisions + 1) * mostInVain;
      if (count.runs > most)
        world.broke(
          'phase_ends',
          issueId,
          `${count.runs} runs of "${role}" in "${phase}" ended well, and at most ${most} may`,
        );
    },
  };
}
