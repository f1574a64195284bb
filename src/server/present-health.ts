import type { Health } from '../orchestrator/view/health.ts';

/** The health record as `health.json` has it. Times are ISO 8601. */
export function presentHealth(health: Health): Record<string, unknown> {
  const { tick, next } = health;
  return {
    at: iso(health.at),
    started_at: iso(health.startedAt),
    project: health.project,
    tick: {
      number: tick.number,
      started_at: iso(tick.startedAt),
      duration_ms: tick.durationMs,
      steps: tick.steps.map(({ step, durationMs, error }) => ({ step, duration_ms: durationMs, error })),
    },
    slots: health.slots,
    running: health.running,
    retrying: health.retrying,
    held: health.held,
    next: {
      tick_at: next.tickAt === null ? null : iso(next.tickAt),
      is_polling: next.isPolling,
      look_at: next.lookAt === null ? null : iso(next.lookAt),
    },
    poll_errors: health.pollErrors,
    polling: {
      mode: health.polling.mode,
      interval_ms: health.polling.intervalMs,
      last_activity_at: iso(health.polling.lastActivityAt),
      quiet_until: health.polling.quietUntil === null ? null : iso(health.polling.quietUntil),
      failures: health.polling.failures,
      pressure: presentPressure(health.polling.pressure),
    },
    jobs: health.jobs.map(presentJob),
    findings: health.findings.slice(0, mostFindings).map(presentFinding),
    workflow_problem: health.workflowProblem,
    no_room: health.noRoom,
  };
}

/** So many findings are told; `baton status` is no place for a thousand. */
export const mostFindings = 50;

export function presentJob(job: Health['jobs'][number]): Record<string, unknown> {
  return {
    name: job.name,
    kind: job.kind,
    interval_ms: job.intervalMs,
    is_running: job.isRunning,
    last_run_at: job.lastRunAt === null ? null : iso(job.lastRunAt),
    outcome: job.outcome,
    duration_ms: job.durationMs,
    failures: job.failures,
    error: job.error,
    next_due_at: job.nextDueAt === null ? null : iso(job.nextDueAt),
    late_ms: job.lateMs,
  };
}

export function presentFinding(finding: Health['findings'][number]): Record<string, unknown> {
  const { code, issueId, identifier, text, since } = finding;
  return { code, issue_id: issueId, issue_identifier: identifier, text, since: iso(since) };
}

export function presentPressure(pressure: Health['polling']['pressure']): Record<string, unknown> {
  const { step, spacingMs, until, text } = pressure;
  return { step, spacing_ms: spacingMs, until: until === null ? null : iso(until), text };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
