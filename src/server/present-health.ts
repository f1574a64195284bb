import type { Health } from '../orchestrator/health.ts';

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
    workflow_problem: health.workflowProblem,
    no_room: health.noRoom,
  };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
