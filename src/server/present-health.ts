import { timeText } from '../core/text/time-text.ts';
import type { Health } from '../orchestrator/view/health.ts';
import { presentJob } from './api/present/present-job.ts';
import { mostFindings, presentFinding, presentPressure } from './api/present/present-status.ts';

/** The health record as `health.json` has it. Times are ISO 8601. */
export function presentHealth(health: Health): Record<string, unknown> {
  const { tick, next } = health;
  return {
    at: timeText(health.at),
    started_at: timeText(health.startedAt),
    project: health.project,
    tick: {
      number: tick.number,
      started_at: timeText(tick.startedAt),
      duration_ms: tick.durationMs,
      steps: tick.steps.map(({ step, durationMs, error }) => ({ step, duration_ms: durationMs, error })),
    },
    slots: health.slots,
    running: health.running,
    retrying: health.retrying,
    held: health.held,
    next: {
      tick_at: timeText(next.tickAt),
      is_polling: next.isPolling,
      retry_at: timeText(next.retryAt),
    },
    poll_errors: health.pollErrors,
    polling: {
      mode: health.polling.mode,
      interval_ms: health.polling.intervalMs,
      last_activity_at: timeText(health.polling.lastActivityAt),
      quiet_until: timeText(health.polling.quietUntil),
      failures: health.polling.failures,
      pressure: presentPressure(health.polling.pressure),
    },
    jobs: health.jobs.map(presentJob),
    findings: health.findings.slice(0, mostFindings).map(presentFinding),
    pipeline: health.phases.map(({ issue, phase, round, waitsFor }) => ({
      issue_id: issue.id,
      issue_identifier: issue.identifier,
      phase,
      round,
      waits_for: waitsFor,
    })),
    workflow_problem: health.workflowProblem,
    no_headroom: health.noHeadroom,
  };
}
