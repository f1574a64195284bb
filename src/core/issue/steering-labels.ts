import { hasPipeline } from '../pipeline/phase.ts';
import { isPipelineLabel } from '../pipeline/phase-labels.ts';
import { isForAutoMerge } from '../pull/auto-merge.ts';
import { agentLabel } from '../run/choose-agent.ts';
import type { Settings } from '../settings.ts';

/**
 * Whether a label tells Baton what to do: to merge a change itself, to use an agent, to move an issue in the pipeline. People
 * say such things, and an agent that could set the label would say them about its own work.
 */
export function steersBaton({ pipeline, review }: Pick<Settings, 'pipeline' | 'review'>): (label: string) => boolean {
  return (label) => {
    const name = label.trim().toLowerCase();
    if (name.startsWith(agentLabel) || isForAutoMerge([name], review.autoMerge)) return true;
    return hasPipeline(pipeline) && isPipelineLabel(name);
  };
}
