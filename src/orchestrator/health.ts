import type { BatonError } from '../core/baton-error.ts';
import type { PaceMode } from '../core/poll-pace.ts';
import { quietChangesAt } from '../core/quiet-hours.ts';
import type { RequestPressure } from '../core/request-pressure.ts';
import type { OrchestratorContext } from './context.ts';
import type { JobView } from './job.ts';
import { paceNow, pressureNow } from './pace.ts';
import type { SchedulingState } from './scheduling-state.ts';
import type { StepReport } from './tick.ts';

/** How the daemon is, after each tick: for people and programs that look from outside. Times are UTC milliseconds. */
export interface Health {
  readonly at: number;
  readonly startedAt: number;
  readonly project: string;
  readonly tick: {
    readonly number: number;
    readonly startedAt: number;
    readonly durationMs: number;
    readonly steps: readonly StepReport[];
  };
  readonly slots: { readonly used: number; readonly limit: number };
  readonly running: number;
  readonly retrying: number;
  readonly held: number;
  /** When the next tick, the next poll's answer still being awaited or not, and the next look are due. */
  readonly next: { readonly tickAt: number | null; readonly isPolling: boolean; readonly lookAt: number | null };
  readonly pollErrors: readonly { readonly step: string; readonly error: BatonError }[];
  readonly polling: PollingHealth;
  readonly jobs: readonly JobView[];
  /** What the last look at the queue found. */
  readonly findings: SchedulingState['findings'];
  readonly workflowProblem: BatonError | null;
  /** Why nothing new starts for want of disk or memory. */
  readonly noRoom: string | null;
}

export interface PollingHealth {
  readonly mode: PaceMode;
  readonly intervalMs: number;
  readonly lastActivityAt: number;
  /** While it is quiet: when that ends. */
  readonly quietUntil: number | null;
  /** Polls that failed, in a row. */
  readonly failures: number;
  readonly pressure: RequestPressure;
}

export interface TickFacts {
  readonly startedAt: number;
  readonly number: number;
  readonly tickStartedAt: { readonly wall: number; readonly monotonic: number };
  readonly steps: readonly StepReport[];
  /** On the monotonic clock. */
  readonly nextTickAt: number | null;
  readonly isPolling: boolean;
  readonly pollErrors: Health['pollErrors'];
  readonly jobs: readonly JobView[];
}

/** Hands the record of a tick on. Whoever takes it must not be able to break the tick. */
export function tellHealth(context: OrchestratorContext, facts: TickFacts): void {
  try {
    context.onHealth(healthOf(context, facts));
  } catch (error) {
    context.logger.error('health_publish_failed', { error });
  }
}

/** How the tracker is asked just now. */
export function pollingHealth(context: OrchestratorContext): PollingHealth {
  const { mode, intervalMs } = paceNow(context);
  const { activity, reads, clock, source } = context;
  const { quietHours } = source.read().workflow.settings.polling;
  return {
    mode,
    intervalMs,
    quietUntil: mode === 'quiet' && quietHours !== null ? quietChangesAt(clock.now(), quietHours) : null,
    lastActivityAt: activity.lastAt,
    failures: reads.rest.failures,
    pressure: pressureNow(context),
  };
}

function healthOf(context: OrchestratorContext, facts: TickFacts): Health {
  const { state, clock, source, project, room } = context;
  const { workflow, problem } = source.read();
  const looks = [...state.retrying.values()].map(({ dueAt }) => dueAt);
  const { tickStartedAt, nextTickAt } = facts;
  return {
    at: clock.now(),
    startedAt: facts.startedAt,
    project,
    tick: {
      number: facts.number,
      startedAt: tickStartedAt.wall,
      durationMs: clock.monotonic() - tickStartedAt.monotonic,
      steps: facts.steps,
    },
    slots: { used: state.running.size, limit: workflow.settings.agent.maxConcurrentAgents },
    running: state.running.size,
    retrying: state.retrying.size,
    held: state.held.size,
    next: {
      tickAt: nextTickAt === null ? null : clock.now() + (nextTickAt - clock.monotonic()),
      isPolling: facts.isPolling,
      lookAt: looks.length === 0 ? null : Math.min(...looks),
    },
    pollErrors: facts.pollErrors,
    polling: pollingHealth(context),
    jobs: facts.jobs,
    findings: state.findings,
    workflowProblem: problem,
    noRoom: room.whyNone()?.text ?? null,
  };
}
