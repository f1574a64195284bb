import { type BatonError, toBatonError } from '../core/baton-error.ts';
import type { Pause } from './commands/pause.ts';
import type { HeadroomWatch } from './dispatch/headroom.ts';
import type { BaseParts } from './parts.ts';
import type { Accounts } from './runs/accounts.ts';

export interface StepReport {
  readonly step: TickStep;
  readonly durationMs: number;
  readonly error: BatonError | null;
}

/** By step, over all ticks: the time in all, and the longest. */
export type TickTotals = Map<TickStep, { readonly ms: number; readonly longestMs: number }>;

export function errorsIn(steps: readonly StepReport[]): { readonly step: TickStep; readonly error: BatonError }[] {
  return steps.flatMap(({ step, error }) => (error === null ? [] : [{ step, error }]));
}

export interface TickParts extends Pick<BaseParts, 'clock' | 'isShared' | 'logger' | 'own' | 'source' | 'stopping'> {
  readonly pause: Pause;
  readonly accounts: Accounts;
  readonly headroom: HeadroomWatch;
  readonly decidePending: () => Promise<void>;
  readonly checkLabels: () => Promise<void>;
  readonly expireRevisions: () => Promise<void>;
  readonly inheritOrphans: () => Promise<void>;
  readonly serveRetries: () => void;
  readonly fillSlots: () => void;
}

type Step = (parts: TickParts, due: DueReads) => void | Promise<void>;

/** On a store without other daemons, state that only another program could change is read this often. */
const ownStoreMs = 30_000;

/** When the store was last read for changes of other daemons. On a shared store every tick reads it. */
export class DueReads {
  readonly #parts: Pick<TickParts, 'clock' | 'isShared'>;
  readonly #readAt = { orphans: 0, pause: 0 };

  constructor(parts: Pick<TickParts, 'clock' | 'isShared'>) {
    this.#parts = parts;
  }

  isDue(what: 'orphans' | 'pause'): boolean {
    const { clock, isShared } = this.#parts;
    const now = clock.monotonic();
    if (!isShared && now - this.#readAt[what] < ownStoreMs) return false;
    this.#readAt[what] = now;
    return true;
  }

  /** The next tick looks for orphans, even if that is not due. */
  orphansSoon(): void {
    this.#readAt.orphans = Number.NEGATIVE_INFINITY;
  }
}

/** The step has no rules until the pipeline exists, or became jobs; it keeps its place in seed 4's order. */
const nothingYet: Step = () => {};

/**
 * The steps of a tick, in seed 4's order. Why this order: finished work moves first; reconcile comes before dispatch,
 * because it frees slots; retries before new work, because they were promised. Steps only check state on this machine.
 * A separate job polls the tracker; its answer first reconciles the runs and then fills the slots. Jobs also look after
 * live runs and maintain the store, each at its own pace (jobs/recurring-jobs.ts).
 */
const steps = {
  transitions: ({ decidePending }) => decidePending(),
  safety: ({ checkLabels }) => checkLabels(),
  revision_expiry: ({ expireRevisions }) => expireRevisions(),
  reconcile: async ({ pause, accounts, isShared, inheritOrphans }, due) => {
    if (due.isDue('pause')) await pause.read();
    if (isShared) await accounts.read();
    if (due.isDue('orphans')) await inheritOrphans();
  },
  retries: ({ serveRetries }) => serveRetries(),
  intake: nothingYet,
  dispatch: ({ source, headroom, fillSlots, own }) => {
    const { problem } = source.read();
    // Nothing new starts with an unusable workflow file.
    if (problem !== null) throw problem;
    if (headroom.whyNone() !== null) own('headroom', headroom.refresh());
    fillSlots();
  },
  maintenance: nothingYet,
} as const satisfies Record<string, Step>;

export type TickStep = keyof typeof steps;

/**
 * One pass of the steps (law 5): each in its own error boundary. No step begins after the orchestrator was asked to
 * stop.
 */
export async function runTick(parts: TickParts, due: DueReads): Promise<StepReport[]> {
  const { clock, logger, source, stopping } = parts;
  const reports: StepReport[] = [];
  for (const [step, run] of Object.entries<Step>(steps) as [TickStep, Step][]) {
    if (stopping.aborted) break;
    const startedAt = clock.monotonic();
    let error: BatonError | null = null;
    try {
      await run(parts, due);
    } catch (thrown) {
      if (!stopping.aborted) {
        error = toBatonError(thrown);
        // A problem of the workflow file was logged when it appeared.
        if (error !== source.read().problem) logger.error('tick_step_failed', { step, error });
      }
    }
    reports.push({ step, durationMs: clock.monotonic() - startedAt, error });
  }
  return reports;
}
