import type { BatonError } from '../../core/baton-error.ts';
import type { PaceMode } from '../../core/cadence/poll-pace.ts';
import { quietChangesAt } from '../../core/cadence/quiet-hours.ts';
import type { QueueFindings } from '../../core/dispatch/queue-health.ts';
import { type SlotView, slotView } from '../../core/dispatch/slots.ts';
import { type PhaseWait, phaseWait } from '../../core/pipeline/phase-standing.ts';
import type { RequestPressure } from '../../core/requests/request-pressure.ts';
import type { IssueName } from '../claims/claim.ts';
import type { Claims } from '../claims/claims.ts';
import type { HeadroomWatch } from '../dispatch/headroom.ts';
import type { JobView } from '../jobs/job.ts';
import type { QueueHealth } from '../jobs/queue-health.ts';
import type { BaseParts } from '../parts.ts';
import type { Phases } from '../pipeline/phases.ts';
import { type PaceParts, paceNow, pressureNow } from '../poll/pace.ts';
import type { TrackerReads } from '../poll/tracker-reads.ts';
import type { StepReport } from '../tick-steps.ts';

export interface PollingHealthParts extends PaceParts {
  readonly reads: TrackerReads;
}

export interface HealthParts extends PollingHealthParts, Pick<BaseParts, 'logger' | 'project'> {
  readonly claims: Claims;
  readonly headroom: HeadroomWatch;
  readonly queueHealth: QueueHealth;
  readonly phases: Phases;
  readonly onHealth: (health: Health) => void;
}

/** The state of the daemon after each tick, for people and programs outside. Times are UTC milliseconds. */
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
  readonly slots: SlotView;
  readonly running: number;
  readonly retrying: number;
  readonly held: number;
  /** When the next tick and the next retry are due, and whether a poll is in progress. */
  readonly next: { readonly tickAt: number | null; readonly isPolling: boolean; readonly retryAt: number | null };
  readonly pollErrors: readonly { readonly step: string; readonly error: BatonError }[];
  readonly polling: PollingHealth;
  readonly jobs: readonly JobView[];
  /** The findings of the last check of the queue. */
  readonly findings: QueueFindings;
  /** The issues of the pipeline that Baton works on, or that wait for a person. */
  readonly phases: readonly HealthPhase[];
  readonly workflowProblem: BatonError | null;
  /** Why nothing new starts for lack of disk or memory. */
  readonly noHeadroom: string | null;
}

export interface HealthPhase {
  readonly issue: IssueName;
  readonly phase: string;
  readonly round: number;
  readonly waitsFor: PhaseWait;
}

export interface PollingHealth {
  readonly mode: PaceMode;
  readonly intervalMs: number;
  readonly lastActivityAt: number;
  /** When the quiet mode ends; null when it is not quiet. */
  readonly quietUntil: number | null;
  /** Failed polls in a row. */
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

/** Passes the record of a tick on. Its receiver must not be able to break the tick. */
export function publishHealth(parts: HealthParts, facts: TickFacts): void {
  try {
    parts.onHealth(healthOf(parts, facts));
  } catch (error) {
    parts.logger.error('health_publish_failed', { error });
  }
}

/** How the tracker is polled at the moment. */
export function pollingHealth(parts: PollingHealthParts): PollingHealth {
  const { mode, intervalMs } = paceNow(parts);
  const { activity, reads, clock, source } = parts;
  const { quietHours } = source.read().workflow.settings.polling;
  return {
    mode,
    intervalMs,
    quietUntil: mode === 'quiet' && quietHours !== null ? quietChangesAt(clock.now(), quietHours) : null,
    lastActivityAt: activity.lastAt,
    failures: reads.backoff.failures,
    pressure: pressureNow(parts),
  };
}

function healthOf(parts: HealthParts, facts: TickFacts): Health {
  const { claims, clock, source, project, headroom, queueHealth } = parts;
  const { workflow, problem } = source.read();
  const retries = [...claims.retrying.values()].map(({ dueAt }) => dueAt);
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
    slots: slotView([...claims.running.values()], workflow.settings),
    running: claims.running.size,
    retrying: claims.retrying.size,
    held: claims.held.size,
    next: {
      tickAt: nextTickAt === null ? null : clock.now() + (nextTickAt - clock.monotonic()),
      isPolling: facts.isPolling,
      retryAt: retries.length === 0 ? null : Math.min(...retries),
    },
    pollErrors: facts.pollErrors,
    polling: pollingHealth(parts),
    jobs: facts.jobs,
    findings: queueHealth.findings,
    phases: phasesOf(parts),
    workflowProblem: problem,
    noHeadroom: headroom.whyNone()?.text ?? null,
  };
}

/** At most one for each claim; the API has the others. */
function phasesOf({ claims, phases }: HealthParts): readonly HealthPhase[] {
  const standings = phases.standings();
  return [...claims.all.values()].flatMap((claim) => {
    const found = claim.status === 'inheriting' ? undefined : standings.get(claim.issue.id);
    if (found === undefined || claim.status === 'inheriting') return [];
    const { id, identifier } = claim.issue;
    const { record, open } = found;
    const role = claim.status === 'running' ? claim.role : null;
    const around = { role, needsPerson: claim.status === 'held', isInReview: false };
    return {
      issue: { id, identifier },
      phase: record.phase,
      round: record.revisions + 1,
      waitsFor: phaseWait(record, open, around),
    };
  });
}
