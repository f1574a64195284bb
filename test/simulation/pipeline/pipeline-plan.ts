import type { Phase, Validation } from '../../../src/core/pipeline/phase.ts';
import type { Settings } from '../../../src/core/settings.ts';
import { phase } from '../../core/pipeline/phase.ts';
import { drawFrom } from '../draw.ts';

/** A seed with phases. Shares are of the turns of phase agents and of judges; rates are per simulated minute. */
export interface PipelinePlan {
  readonly validations: readonly Validation[];
  readonly maxRevisions: number;
  readonly revisionExpiryMs: number;
  /** Its artifact falls short. */
  readonly short: number;
  /** It names a later phase to go to. */
  readonly skips: number;
  /** It writes the artifact and does not say so. */
  readonly silent: number;
  /** It writes nothing. */
  readonly idle: number;
  /** Its process ends right after it said so. */
  readonly crashes: number;
  readonly judge: { readonly rejects: number; readonly saysNothing: number; readonly spoils: number };
  /** How often people change labels of the pipeline by hand. */
  readonly handsPerMinute: number;
  /** How often people write, approve or reject an artifact, or move an issue, by command. */
  readonly decisionsPerMinute: number;
  /** The share of label writes that the tracker refuses. */
  readonly refused: number;
}

/** The share of seeds with phases. */
const share = 0.35;
export const simulatedPhases = ['research', 'architecture', 'grooming'] as const;

/** Null: the seed has no phases. Its own stream, so that the other draws of a seed stay as they were. */
export function drawPipeline(seed: number): PipelinePlan | null {
  const draw = drawFrom(seed, 'pipeline plan');
  if (!draw.chance(share)) return null;
  const rate = (most: number): number => (draw.chance(0.4) ? 0 : (draw.between(1, 100) / 100) * most);
  const validation = (): Validation => draw.pick(['structural', 'structural', 'judge', 'trust']);
  return {
    validations: simulatedPhases.slice(0, draw.between(1, simulatedPhases.length)).map(validation),
    maxRevisions: draw.pick([0, 1, 2]),
    revisionExpiryMs: draw.pick([0, 60_000, 3_600_000]),
    short: rate(0.6),
    skips: rate(0.4),
    silent: rate(0.4),
    idle: rate(0.3),
    crashes: rate(0.3),
    judge: { rejects: draw.pick([0.1, 0.5, 0.9]), saysNothing: draw.pick([0, 0.1, 0.6]), spoils: draw.pick([0, 0.2]) },
    handsPerMinute: rate(2),
    refused: rate(0.3),
    decisionsPerMinute: rate(2),
  };
}

export function withPipeline(settings: Settings, plan: PipelinePlan): Settings {
  const phases: Phase[] = plan.validations.map((validation, nth) =>
    phase(simulatedPhases[nth] ?? '', { validation, maxTurns: 2 }),
  );
  const { maxRevisions, revisionExpiryMs } = plan;
  return { ...settings, pipeline: { ...settings.pipeline, phases, maxRevisions, revisionExpiryMs } };
}
