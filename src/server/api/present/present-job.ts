import type { ReadModel } from '../../../orchestrator/view/read-model.ts';
import type { Job } from '../schema/system.ts';
import { timeText } from '../time-text.ts';

export function presentJob(job: ReadModel['jobs'][number]): Job {
  return {
    name: job.name,
    kind: job.kind,
    // The clock of a simulation, and jitter, give fractions.
    interval_ms: Math.round(job.intervalMs),
    is_running: job.isRunning,
    last_run_at: timeText(job.lastRunAt),
    outcome: job.outcome,
    duration_ms: job.durationMs,
    failures: job.failures,
    error: job.error,
    next_due_at: timeText(job.nextDueAt),
    late_ms: job.lateMs,
  };
}
