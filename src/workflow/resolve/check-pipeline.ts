import { estimateRuns, fitsIntoLimit } from '../../core/pipeline/most-runs.ts';
import { hasPipeline, phaseNames } from '../../core/pipeline/phase.ts';
import type { Settings } from '../../core/settings.ts';
import { errorAt, type Report, warningAt } from '../workflow-problems.ts';

/** The checks of the section `pipeline` that need several keys. */
export function checkPipeline(settings: Settings, report: Report): void {
  const { pipeline, limits } = settings;
  if (!hasPipeline(pipeline)) return;
  const { entry } = pipeline;
  const allowed = phaseNames(pipeline);
  if (entry !== null && !allowed.includes(entry)) {
    const message = `pipeline.entry is ${JSON.stringify(entry)}, which is not a phase of this file; there are: ${allowed.join(', ')}`;
    report(errorAt('pipeline.entry', message, { problem: 'unknown_phase', allowed }));
  }
  if (fitsIntoLimit(settings)) return;
  const { most } = estimateRuns(settings);
  const message = `an issue may need ${most} runs if every artifact and change is sent back as often as allowed, but limits.runs_per_issue is ${limits.runsPerIssue}: it would be held before it is finished`;
  report(warningAt('limits.runs_per_issue', message, { problem: 'below_worst_case', most }));
}
