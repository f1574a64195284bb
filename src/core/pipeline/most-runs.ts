import type { Settings } from '../settings.ts';
import { entryPhase, hasPipeline, laterPhases } from './phase.ts';

/** How many runs of workers and phase agents one issue may need if nothing fails, in the usual and in the worst case. */
export interface RunEstimate {
  /** Every artifact and the change are accepted at once. Judges included. */
  readonly usual: number;
  /** Every artifact and the change are sent back as often as the settings allow. Without judges, as `limits.runs_per_issue` counts. */
  readonly most: number;
}

export function estimateRuns({
  pipeline,
  judge,
  review,
  agent,
}: Pick<Settings, 'pipeline' | 'judge' | 'review' | 'agent'>): RunEstimate {
  const entry = entryPhase(pipeline);
  const inUse = new Set([entry, ...laterPhases(pipeline, entry)]);
  const phases = pipeline.phases.filter(({ name }) => inUse.has(name));
  const isReviewed = agent.afterSuccess === 'review';
  const judges = phases.filter(({ validation }) => validation === 'judge').length + (isReviewed ? judgesOf(judge) : 0);
  const rounds = isReviewed ? review.maxRounds + (judge.agents.length > 0 ? judge.maxRounds : 0) : 0;
  return {
    usual: phases.length + 1 + judges,
    most: phases.length * (1 + pipeline.maxRevisions) + 1 + rounds,
  };
}

function judgesOf({ agents, count }: Settings['judge']): number {
  return agents.length === 0 ? 0 : count;
}

/** Whether the worst case fits into the limit of runs of an issue; 0 is no limit. */
export function fitsIntoLimit(settings: Pick<Settings, 'pipeline' | 'judge' | 'review' | 'agent' | 'limits'>): boolean {
  const { runsPerIssue } = settings.limits;
  return !hasPipeline(settings.pipeline) || runsPerIssue <= 0 || estimateRuns(settings).most <= runsPerIssue;
}
