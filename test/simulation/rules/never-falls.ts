import type { World } from '../world.ts';
import type { Rule } from './rule.ts';

interface Totals {
  readonly runs: number;
  readonly used_runs: number;
  readonly used_tokens: number;
}

/** The generation of an issue, the number of runs and what was used never fall, whatever happens. */
export function neverFalls(world: World): Rule {
  const { memory } = world;
  const generations = new Map<string, number>();
  let before: Totals = { runs: 0, used_runs: 0, used_tokens: 0 };
  const raise = (issueId: string, generation: number, where: string): void => {
    const last = generations.get(issueId) ?? 0;
    if (generation < last) world.broke('never_falls', issueId, `generation ${generation} ${where}, after ${last}`);
    generations.set(issueId, Math.max(last, generation));
  };
  return {
    runStarted: ({ issueId, generation, runId }) => raise(issueId, generation, `of run ${runId}`),
    afterStep: () => {
      if (!world.storeHasChanged) return;
      for (const row of memory.look<{ issue_id: string; generation: number }>(
        'select issue_id, generation from claims',
      ))
        raise(row.issue_id, row.generation, 'of the claim');
      const [now = before] = memory.look<Totals>(totals);
      for (const name of ['runs', 'used_runs', 'used_tokens'] as const)
        if (now[name] < before[name]) world.broke('never_falls', null, `${name} is ${now[name]} after ${before[name]}`);
      before = now;
    },
  };
}

const totals = `
  select (select count(*) from runs) as runs,
    coalesce(sum(runs), 0) as used_runs, coalesce(sum(total_tokens), 0) as used_tokens from usage`;
