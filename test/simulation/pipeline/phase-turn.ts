import type { World } from '../world.ts';
import { type PipelinePlan, simulatedPhases } from './pipeline-plan.ts';

/** What a phase agent does in one turn. */
export interface PhaseTurn {
  /** Null: it writes no artifact. */
  readonly writes: 'good' | 'short' | null;
  /** Null: it does not say that it has completed the phase. */
  readonly call: { readonly name: string; readonly input: Record<string, unknown> } | null;
  readonly crashes: boolean;
}

export function drawPhaseTurn({ draw, isCalm }: World, plan: PipelinePlan): PhaseTurn {
  const chance = (share: number): boolean => draw.pipeline.chance(isCalm ? 0 : share);
  if (chance(plan.idle)) return { writes: null, call: null, crashes: false };
  const writes = chance(plan.short) ? 'short' : 'good';
  if (chance(plan.silent)) return { writes, call: null, crashes: chance(plan.crashes) };
  const skipTo = chance(plan.skips) ? draw.pipeline.pick([...simulatedPhases, 'ready', 'nowhere']) : null;
  const input = { summary: 'It is done.', ...(skipTo === null ? {} : { skip_to: skipTo }) };
  return { writes, call: { name: 'complete_phase', input }, crashes: chance(plan.crashes) };
}

/** What the judge of an artifact says in one turn. */
export function drawPhaseVerdict({ draw, isCalm }: World, { judge }: PipelinePlan) {
  const chance = (share: number): boolean => draw.pipeline.chance(isCalm ? 0 : share);
  const spoils = chance(judge.spoils);
  if (chance(judge.saysNothing)) return { call: null, spoils };
  if (!chance(judge.rejects)) return { call: { name: 'approve_phase', input: { summary: 'It is good.' } }, spoils };
  const findings = [{ problem: 'It is vague.', wanted: 'Something better.' }];
  return { call: { name: 'reject_phase', input: { summary: 'It is not good.', findings } }, spoils };
}
