import type { BatonError } from '../core/baton-error.ts';
import type { OrchestratorContext } from './context.ts';
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
  readonly workflowProblem: BatonError | null;
}

export interface TickFacts {
  readonly startedAt: number;
  readonly number: number;
  readonly tickStartedAt: number;
  readonly durationMs: number;
  readonly steps: readonly StepReport[];
  readonly nextTickAt: number | null;
  readonly isPolling: boolean;
  readonly pollErrors: Health['pollErrors'];
}

export function healthOf({ state, clock, source, project }: OrchestratorContext, facts: TickFacts): Health {
  const { workflow, problem } = source.read();
  const looks = [...state.retrying.values()].map(({ dueAt }) => dueAt);
  return {
    at: clock.now(),
    startedAt: facts.startedAt,
    project,
    tick: {
      number: facts.number,
      startedAt: facts.tickStartedAt,
      durationMs: facts.durationMs,
      steps: facts.steps,
    },
    slots: { used: state.running.size, limit: workflow.settings.agent.maxConcurrentAgents },
    running: state.running.size,
    retrying: state.retrying.size,
    held: state.held.size,
    next: {
      tickAt: facts.nextTickAt,
      isPolling: facts.isPolling,
      lookAt: looks.length === 0 ? null : Math.min(...looks),
    },
    pollErrors: facts.pollErrors,
    workflowProblem: problem,
  };
}
