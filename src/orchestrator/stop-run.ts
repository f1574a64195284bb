import type { StopReason } from '../core/run.ts';
import type { OrchestratorContext } from './context.ts';
import type { RunningEntry } from './scheduling-state.ts';

/** Asks a run to end, once. It stays in `running`, and keeps its slot, until nothing of it is left. */
export function stopRun(context: OrchestratorContext, entry: RunningEntry, reason: StopReason): void {
  if (entry.stopRequested !== null) return;
  entry.stopRequested = reason;
  const { id, identifier } = entry.issue;
  context.logger.info('run_stopping', { issue_id: id, issue_identifier: identifier, run_id: entry.runId, reason });
  entry.run.stop(reason);
}
