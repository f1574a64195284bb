import type { World } from '../world.ts';
import type { Rule } from './rule.ts';

interface Row {
  readonly run_id: string;
  readonly issue_id: string;
  readonly generation: number;
}

/** The store has everything before its effect: the run of an agent, and the end of the previous run of its issue. */
export function writtenFirst(world: World): Rule {
  const { memory, ledger } = world;
  return {
    spawned: ({ runId, issueId }) => {
      const [row] = memory.look<Row>(
        'select run_id, issue_id, generation from runs where run_id = ? and ended_at is null',
        runId,
      );
      if (row === undefined)
        return world.broke('written_first', issueId, `an agent starts and run ${runId} is not in the store, or over`);
      if (row.issue_id !== issueId) return world.broke('written_first', issueId, `run ${runId} is of ${row.issue_id}`);
      const [claim] = memory.look<Row>(
        'select generation from claims where issue_id = ? and owner is not null',
        issueId,
      );
      if (claim?.generation !== row.generation)
        world.broke(
          'written_first',
          issueId,
          `run ${runId} has generation ${row.generation}, the claim ${claim?.generation}`,
        );
    },
    runStarted: ({ runId, issueId }) => {
      const other = [...ledger.unfinished.values()].find((run) => run.issueId === issueId && run.runId !== runId);
      if (other !== undefined)
        world.broke('written_first', issueId, `run ${runId} starts and run ${other.runId} has no end in the store`);
    },
  };
}
