import type { RunCheckout } from '../../../src/runner/judge-run.ts';
import type { JudgeBrief } from '../../../src/runner/runner.ts';
import type { World } from '../world.ts';
import type { JudgePlan } from './review-plan.ts';

/** What a judge says in one turn. */
export interface JudgeTurn {
  /** Null: nothing. */
  readonly call: { readonly name: string; readonly input: Record<string, unknown> } | null;
  readonly spoils: boolean;
}

const problems = ['The first problem.', 'The second problem.', 'The third problem.'];

export function drawJudgeTurn({ draw, isCalm }: World, plan: JudgePlan): JudgeTurn {
  const chance = (share: number): boolean => draw.judge.chance(isCalm ? 0 : share);
  const spoils = chance(plan.spoils);
  if (chance(plan.saysNothing)) return { call: null, spoils };
  if (!draw.judge.chance(plan.rejects))
    return { call: { name: 'approve_pr', input: { summary: 'It is good.' } }, spoils };
  const problem = chance(plan.repeats) ? draw.judge.pick(problems) : `Problem ${draw.judge.between(1, 1_000_000)}.`;
  const findings = [{ file: 'a.ts', line: draw.judge.between(1, 100), problem, wanted: 'Something better.' }];
  return { call: { name: 'reject_pr', input: { summary: 'It is not good.', findings } }, spoils };
}

/** A checkout of the simulated repository: only whether something was changed in it matters. */
export function simulatedCheckout(
  { judgeTrees }: Pick<World, 'judgeTrees'>,
  at: Pick<JudgeBrief, 'commit'> | null,
): RunCheckout {
  const folder = `/checkouts/${judgeTrees.size}/${at?.commit ?? 'base'}`;
  judgeTrees.set(folder, 0);
  return {
    folder,
    commit: at?.commit ?? null,
    diff: 'a change',
    fingerprint: async () => String(judgeTrees.get(folder)),
    [Symbol.asyncDispose]: async () => {},
  };
}
